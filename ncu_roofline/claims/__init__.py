"""What somebody says of kernels (a deck, a README, a pull request), held against what was measured.

A claim names a quantity of the report, a value and, if it is fair, the conditions. The verdict is one of three:
supported, contradicted, or not decided by this report, with the reason.
"""

from ncu_roofline.claims.document import ABOUT, AT_LEAST, AT_MOST, Claim, dimension_of, read_claims
from ncu_roofline.claims.judge import CONTRADICTED, OPEN, SUPPORTED, Chosen, Measured, Verdict, judge, value_of

__all__ = [
    "ABOUT", "AT_LEAST", "AT_MOST", "CONTRADICTED", "OPEN", "SUPPORTED", "Chosen", "Claim", "Measured", "Verdict",
    "dimension_of", "judge", "read_claims", "value_of",
]  # fmt: skip
