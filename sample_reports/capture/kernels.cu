// Kernels whose work is known before they run. The program prints one JSON line per kernel with its work by
// instruction path and the least bytes that DRAM has to move, then launches each of them once.

#include <cstdio>
#include <cstdlib>

#include <cuda_fp16.h>
#include <mma.h>

#define CHECK(call)                                                                             \
    do {                                                                                        \
        cudaError_t status = (call);                                                            \
        if (status != cudaSuccess) {                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));     \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)

// 2 n FLOP, 12 n bytes.
__global__ void saxpy(long n, float a, const float *x, float *y) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = __fmaf_rn(a, x[i], y[i]);
}

// 2 n FLOP, 24 n bytes.
__global__ void triad(long n, double s, const double *b, const double *c, double *a) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) a[i] = __fma_rn(s, c[i], b[i]);
}

// n FLOP in additions alone, which use half of what a fused multiply-add could do.
__global__ void add(long n, const float *x, const float *y, float *z) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) z[i] = __fadd_rn(x[i], y[i]);
}

// 4 FLOP per packed instruction, n pairs: 4 n FLOP.
__global__ void half_fma(long n, const __half2 *x, __half2 *y) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma2(x[i], x[i], y[i]);
}

// 2 m n k FLOP on the FP32 pipe; m, n multiples of 16.
__global__ void gemm(int m, int n, int k, const float *a, const float *b, float *c) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum = __fmaf_rn(a[row * (long)k + i], b[i * (long)n + column], sum);
    c[row * (long)n + column] = sum;
}

// 2 m n k FLOP on the tensor pipe, FP16 with FP32 accumulation; one warp per 16 x 16 tile.
__global__ void gemm_tensor(int n, int k, const __half *a, const __half *b, float *c) {
    using namespace nvcuda;
    int row = blockIdx.y * 16, column = blockIdx.x * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(left, a + row * (long)k + i, k);
        wmma::load_matrix_sync(right, b + i * (long)n + column, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * (long)n + column, sum, n, wmma::mem_row_major);
}

// No floating-point work at all.
__global__ void hash(long n, const unsigned *x, unsigned *y) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned h = x[i];
        h = (h ^ (h >> 16)) * 0x85ebca6bu;
        h = (h ^ (h >> 13)) * 0xc2b2ae35u;
        y[i] = h ^ (h >> 16);
    }
}

static void *buffer(size_t bytes) {
    void *memory = nullptr;
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMemset(memory, 0, bytes));
    return memory;
}

static void say(const char *kernel, const char *path, double work, double bytes) {
    printf("{\"kernel\": \"%s\", \"path\": \"%s\", \"work\": %.0f, \"least_dram_bytes\": %.0f}\n", kernel, path, work,
           bytes);
}

int main() {
    const long n = 1L << 26;
    const int m = 1024;
    const int threads = 256;
    const unsigned blocks = (unsigned)(n / threads);
    const double cube = 2.0 * m * m * m, square = (double)m * m;
    say("saxpy", "fp32", 2.0 * n, 12.0 * n);
    say("triad", "fp64", 2.0 * n, 24.0 * n);
    say("add", "fp32", 1.0 * n, 12.0 * n);
    say("half_fma", "fp16", 4.0 * n, 12.0 * n);
    say("gemm", "fp32", cube, 12.0 * square);
    say("gemm_tensor", "tensor.fp16", cube, 8.0 * square);
    say("hash", "fp32", 0.0, 8.0 * n);
    fflush(stdout);

    char *a = (char *)buffer(8 * n), *b = (char *)buffer(8 * n), *c = (char *)buffer(8 * n);
    saxpy<<<blocks, threads>>>(n, 2.0f, (float *)a, (float *)b);
    triad<<<blocks, threads>>>(n, 2.0, (double *)a, (double *)b, (double *)c);
    add<<<blocks, threads>>>(n, (float *)a, (float *)b, (float *)c);
    half_fma<<<blocks, threads>>>(n, (__half2 *)a, (__half2 *)b);
    gemm<<<dim3(m / 16, m / 16), dim3(16, 16)>>>(m, m, m, (float *)a, (float *)b, (float *)c);
    gemm_tensor<<<dim3(m / 16, m / 16), 32>>>(m, m, (__half *)a, (__half *)b, (float *)c);
    hash<<<blocks, threads>>>(n, (unsigned *)a, (unsigned *)b);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
