"""Before and after: sides of one or more reports, paired by what their kernels are, judged by time, and gated."""

from ncu_roofline.comparison.compared import Alone, Compared, Comparison, Verdict, compared
from ncu_roofline.comparison.decompose import Factors, State, decompose
from ncu_roofline.comparison.gate import FindingGate, Gate, GateResult, Outcome, judge_gates, read_gate
from ncu_roofline.comparison.noise import Noise, Spread, noise, spread
from ncu_roofline.comparison.pairing import Pair, Pairing, pair
from ncu_roofline.comparison.rules import COMPARISON_RULES, judged
from ncu_roofline.comparison.scrubbing import scrubbed, scrubbed_gate, scrubbed_side, scrubber_of
from ncu_roofline.comparison.side import Device, Key, Side, Source, side_of
from ncu_roofline.comparison.stored import from_json, is_baseline, to_json

__all__ = [
    "COMPARISON_RULES", "Alone", "Compared", "Comparison", "Device", "Factors", "FindingGate", "Gate", "GateResult",
    "Key",
    "Noise", "Outcome", "Pair", "Pairing", "Side", "Source", "Spread", "State", "Verdict", "compared", "decompose",
    "from_json", "is_baseline", "judge_gates", "judged", "noise", "pair", "read_gate", "scrubbed", "scrubbed_gate",
    "scrubbed_side", "scrubber_of", "side_of", "spread", "to_json",
]  # fmt: skip
