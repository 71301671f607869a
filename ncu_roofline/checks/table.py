"""The table of all rules. A code is never used again for another rule.

Letters name the stage: R reading, M mapping, P physics, C conditions, T times of other producers, X aggregation and
comparison, K claims, L ledgers.
"""

from __future__ import annotations

from typing import Final

from ncu_roofline.checks import ceilings, claims, conditions, mapping, physics, reading, timing, units
from ncu_roofline.checks.rule import Rule
from ncu_roofline.vocabulary import Severity

RULES: Final = (
    Rule("R101", "skipped-lines", Severity.NOTE, (), reading.skipped_lines),
    Rule("R102", "damaged-rows", Severity.WARNING, (), reading.damaged_rows),
    Rule("R103", "conflicting-values", Severity.WARNING, (), reading.conflicting_values),
    Rule("R104", "not-available", Severity.NOTE, (), reading.not_available),
    Rule("R105", "not-a-number", Severity.WARNING, (), reading.not_a_number),
    Rule("R106", "european-numbers", Severity.NOTE, (), reading.european_numbers),
    Rule("R107", "ncu-error", Severity.WARNING, (), reading.ncu_error),
    Rule("R108", "negative-value", Severity.ERROR, (), reading.negative_value),
    Rule("R109", "application-replay", Severity.NOTE, (), reading.replayed_application),
    Rule("R110", "kernel-name-cut", Severity.NOTE, ("kernel",), reading.kernel_name_cut),
    Rule("R111", "files-passed-over", Severity.NOTE, (), reading.files_passed_over),
    Rule("R112", "units-not-stated", Severity.NOTE, (), reading.units_not_stated),
    Rule("R113", "option-without-effect", Severity.NOTE, (), reading.option_without_effect),
    Rule("R114", "launches-lost", Severity.WARNING, (), reading.launches_lost),
    Rule("R115", "end-not-marked", Severity.NOTE, (), reading.end_not_marked),
    Rule("R116", "range-results", Severity.WARNING, (), reading.range_results),
    Rule("R117", "launches-missing", Severity.WARNING, (), reading.launches_missing),
    Rule("R118", "time-against-cycles", Severity.WARNING, ("time_from_cycles",), units.time_against_cycles),
    Rule("R119", "binary-prefix", Severity.NOTE, ("ceilings.*.measured.value",), units.binary_prefix),
    Rule("R120", "rounded-too-much", Severity.NOTE, (), units.rounded_too_much),
    Rule("C401", "session-of-another-report", Severity.WARNING, (), conditions.session_of_another_report),
    Rule("C402", "captures-merged", Severity.NOTE, (), conditions.captures_merged),
    Rule("C403", "timing-of-other-conditions", Severity.NOTE, (), timing.timing_of_other_conditions),
    Rule("C404", "times-apart", Severity.WARNING, ("external.time",), conditions.times_apart),
    Rule("C405", "clock-drift", Severity.NOTE, ("clocks.sm",), conditions.clock_drift),
    Rule("C406", "conditions-unknown", Severity.NOTE, (), conditions.conditions_unknown),
    Rule("C407", "replay-over-runs", Severity.NOTE, (), conditions.replay_over_runs),
    Rule("C408", "devices-mixed", Severity.NOTE, (), conditions.devices_mixed),
    Rule("T501", "timing-read", Severity.NOTE, (), timing.timing_read),
    Rule("T502", "timing-not-joined", Severity.NOTE, (), timing.timing_not_joined),
    Rule("T503", "timing-weakly-joined", Severity.WARNING, (), timing.timing_weak),
    Rule("T504", "timing-counts-differ", Severity.WARNING, (), timing.timing_counts_differ),
    Rule("M201", "counter-not-collected", Severity.NOTE, (), mapping.counter_not_collected),
    Rule("M202", "tensor-not-counted", Severity.WARNING, (), mapping.tensor_not_counted),
    Rule("M203", "tensor-activity-ambiguous", Severity.NOTE, (), mapping.tensor_activity_ambiguous),
    Rule("M204", "phantom-fp16", Severity.NOTE, ("work.fp16.extent",), mapping.phantom_fp16),
    Rule("M205", "unknown-architecture", Severity.WARNING, ("cc",), mapping.unknown_architecture),
    Rule("M206", "architecture-not-stated", Severity.NOTE, (), mapping.architecture_not_stated),
    Rule("M207", "partial-amount", Severity.NOTE, (), mapping.partial_amount),
    Rule("M208", "measure-sees-less", Severity.NOTE, ("traffic.*.measures.*.bytes",), mapping.measure_sees_less),
    Rule("M209", "ceiling-not-known", Severity.NOTE, (), mapping.ceiling_not_known),
    Rule("M210", "launches-not-separable", Severity.NOTE, ("invocations",), mapping.launches_not_separable),
    Rule("M211", "time-not-known", Severity.NOTE, (), mapping.time_not_known),
    Rule("M212", "traffic-not-in-measure", Severity.NOTE, ("traffic.*.unseen",), mapping.traffic_not_in_measure),
    Rule("M213", "measure-contains-more", Severity.NOTE, ("traffic.*.measure",), mapping.measure_contains_more),
    Rule("M214", "device-doubtful", Severity.NOTE, (), ceilings.device_doubtful),
    Rule("M215", "ceilings-disagree", Severity.WARNING, (), ceilings.ceilings_disagree),
    Rule("M216", "measured-ceilings", Severity.NOTE, (), ceilings.measured_ceilings),
    Rule("P301", "above-ceiling", Severity.ERROR, ("*.peak",), physics.above_ceiling),
    Rule("P302", "too-short", Severity.NOTE, ("time",), physics.too_short),
    Rule("P303", "instruction-mix", Severity.NOTE, ("ceilings.*.mix.value",), physics.instruction_mix),
    Rule("P304", "busy-above-peak", Severity.NOTE, ("utilization.*",), physics.busy_above_peak),
    Rule("P305", "identity-broken", Severity.WARNING, (), physics.identity_broken),
    Rule("P306", "hit-rate-impossible", Severity.WARNING, ("hit_rate.*",), physics.hit_rate_impossible),
    Rule("K601", "claim-supported", Severity.NOTE, (), claims.claim_supported),
    Rule("K602", "claim-contradicted", Severity.ERROR, (), claims.claim_contradicted),
    Rule("K603", "claim-not-decided", Severity.WARNING, (), claims.claim_not_decided),
)
