"""Protobuf messages of a binary report: only the fields that are needed, all others are skipped by the parser.

Field numbers are those of the definitions that NVIDIA ships with Nsight Compute (``extras/FileFormat``); those of the
session were inferred from content. Texts are declared as bytes, since nothing promises that they are UTF-8, and the
metrics of a result as undecoded bytes, so that only the wanted ones are decoded.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

_PACKAGE: Final = "ncu_roofline"
_TYPES: Final = {
    "uint32": FieldDescriptorProto.TYPE_UINT32,
    "uint64": FieldDescriptorProto.TYPE_UINT64,
    "float": FieldDescriptorProto.TYPE_FLOAT,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
}
# Message -> field -> (number, type); a type in brackets is repeated, a capital letter begins another message.
_MESSAGES: Final[dict[str, dict[str, tuple[int, str]]]] = {
    "FileHeader": {"version": (1, "uint32")},
    "BlockHeader": {
        "sources": (1, "uint32"),
        "results": (2, "uint32"),
        "session": (3, "Session"),
        "strings": (4, "Strings"),
        "payload_size": (5, "uint32"),
        "range_results": (7, "uint32"),
        "command_list_results": (8, "uint32"),
        "graph_results": (9, "uint32"),
    },
    "Strings": {"texts": (1, "[bytes]")},
    "Session": {"properties": (8, "[Property]"), "command_line": (11, "bytes")},
    "Property": {"name": (1, "bytes"), "value": (2, "bytes")},
    "Size": {"x": (1, "uint64"), "y": (2, "uint64"), "z": (3, "uint64")},
    "Result": {
        "process": (1, "uint32"),
        "mangled_name": (5, "bytes"),
        "function_name": (6, "bytes"),
        "demangled_name": (7, "bytes"),
        "grid": (10, "Size"),
        "block": (11, "Size"),
        "metrics": (13, "[bytes]"),
        "rules": (19, "[Rule]"),
        "nvtx": (21, "Nvtx"),
        "context": (22, "uint32"),
        "stream": (23, "uint32"),
    },
    "RangeResult": {"metrics": (4, "[bytes]"), "nvtx": (10, "Nvtx"), "context": (11, "uint32")},
    "GraphResult": {
        "metrics": (4, "[bytes]"),
        "nvtx": (10, "Nvtx"),
        "context": (11, "uint32"),
        "stream": (12, "uint32"),
    },
    "CommandListResult": {
        "metrics": (4, "[bytes]"),
        "nvtx": (10, "Nvtx"),
        "context": (11, "uint32"),
        "stream": (12, "uint32"),
        "display_name": (18, "bytes"),
        "rules": (21, "[Rule]"),
    },
    "Metric": {"name": (1, "uint32"), "value": (2, "Value"), "instances": (3, "[Instance]")},
    "Value": {
        "text": (1, "bytes"),
        "float": (2, "float"),
        "double": (3, "double"),
        "uint32": (4, "uint32"),
        "uint64": (5, "uint64"),
    },
    "Instance": {"key": (1, "Value"), "value": (2, "Value")},
    "Rule": {"name": (1, "bytes"), "title": (2, "bytes"), "body": (3, "RuleBody"), "section": (4, "bytes")},
    "RuleBody": {"items": (1, "[RuleItem]")},
    "RuleItem": {"message": (1, "RuleMessage")},
    "RuleMessage": {"text": (1, "bytes"), "title": (4, "bytes")},
    "Nvtx": {"domains": (1, "[NvtxDomain]"), "threads": (2, "[NvtxThread]")},
    "NvtxDomain": {"id": (1, "uint64"), "name": (2, "bytes")},
    "NvtxThread": {"domains": (2, "[NvtxRanges]")},
    "NvtxRanges": {"domain": (1, "uint64"), "pushed": (3, "[NvtxRange]")},
    "NvtxRange": {"name": (1, "bytes")},
}


def _build() -> dict[str, Any]:
    file = FileDescriptorProto(name="ncu_roofline/report.proto", package=_PACKAGE, syntax="proto2")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field_name, (number, kind) in fields.items():
            field = message.field.add(name=field_name, number=number)
            field.label = field.LABEL_REPEATED if kind.startswith("[") else field.LABEL_OPTIONAL
            kind = kind.strip("[]")
            if kind in _TYPES:
                field.type = _TYPES[kind]
            else:
                field.type = field.TYPE_MESSAGE
                field.type_name = f".{_PACKAGE}.{kind}"
    pool = DescriptorPool()
    pool.Add(file)
    return {name: GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES}


_CLASSES: Final = _build()

FileHeader: Final = _CLASSES["FileHeader"]
BlockHeader: Final = _CLASSES["BlockHeader"]
Result: Final = _CLASSES["Result"]
RangeResult: Final = _CLASSES["RangeResult"]
GraphResult: Final = _CLASSES["GraphResult"]
CommandListResult: Final = _CLASSES["CommandListResult"]
Metric: Final = _CLASSES["Metric"]


def text(value: bytes) -> str:
    """A text of a message; what is not UTF-8 in it is replaced."""
    return value.decode("utf-8", "replace").rstrip("\0")
