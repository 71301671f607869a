"""What a problem needs, apart from what a kernel did: useful work and the bytes that have to move at least.

Knows no counters. Whether a launch did what its ledger says is said by the checks.
"""

from ncu_roofline.ledger.bound import LedgerBound, StagesBound, ledger_bound, stages_bound
from ncu_roofline.ledger.expectations import (
    Expectation,
    Stage,
    ledger_columns,
    read_expectations,
    read_kinds_file,
    read_stages,
)
from ncu_roofline.ledger.kinds import KINDS, problems_of
from ncu_roofline.ledger.problem import Kind, Ledger, Parameter
from ncu_roofline.ledger.sweep import Case, cases, crossing, possible_values

__all__ = [
    "KINDS", "Case", "Expectation", "Kind", "Ledger", "LedgerBound", "Parameter", "Stage", "StagesBound", "cases",
    "crossing", "ledger_bound", "ledger_columns", "possible_values", "problems_of", "read_expectations",
    "read_kinds_file", "read_stages", "stages_bound",
]  # fmt: skip
