"""What a job could reach: the bounds of its launches, its timeline, and where the difference is. Knows no rendering."""

from ncu_roofline.budget.application import ApplicationBound, application_bound, resource_seconds
from ncu_roofline.budget.scrubbing import scrubbed
from ncu_roofline.budget.step import Item, Step, devices_apart, steps_of
from ncu_roofline.budget.triage import Statement, Triage, triage
from ncu_roofline.budget.whole import Budget, DeviceBound, budget_of

__all__ = [
    "ApplicationBound", "Budget", "DeviceBound", "Item", "Statement", "Step", "Triage", "application_bound",
    "budget_of", "devices_apart", "resource_seconds", "scrubbed", "steps_of", "triage",
]  # fmt: skip
