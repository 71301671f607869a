"""What a problem needs, apart from what a kernel did: useful work and the bytes that have to move at least.

Knows no counters. Whether a launch did what its ledger says is said by the checks.
"""

from ncu_roofline.ledger.expectations import Expectation, ledger_columns, read_expectations
from ncu_roofline.ledger.kinds import KINDS, Ledger

__all__ = ["KINDS", "Expectation", "Ledger", "ledger_columns", "read_expectations"]
