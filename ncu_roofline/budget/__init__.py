"""What a job could reach: the bounds of its launches, its timeline, and where the difference is. Knows no rendering."""

from ncu_roofline.budget.application import ApplicationBound, application_bound
from ncu_roofline.budget.step import Item, Step, devices_apart, steps_of
from ncu_roofline.budget.triage import Statement, Triage, triage

__all__ = [
    "ApplicationBound", "Item", "Statement", "Step", "Triage", "application_bound", "devices_apart", "steps_of",
    "triage",
]  # fmt: skip
