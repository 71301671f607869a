"""A budget without names of people, machines and places."""

from __future__ import annotations

from dataclasses import replace

from ncu_roofline.arrays import mapped
from ncu_roofline.budget.whole import Budget
from ncu_roofline.scrub import Scrubber


def scrubbed(found: Budget, made: Scrubber) -> Budget:
    """The same without names of people, machines and places, and of kernels where these go."""
    if made.kernels:
        for step in found.steps:
            for name, mangled in zip(step.groups["kernel"].tolist(), step.groups["mangled"].tolist(), strict=True):
                if name:
                    made.kernel(*filter(None, (name, mangled)))
    steps = []
    for step in found.steps:
        groups = step.groups | {"kernel": mapped(made.apply, step.groups["kernel"].tolist())}
        items = tuple(replace(item, name=made.text(item.name)) for item in step.items)
        steps.append(replace(step, groups=groups, items=items))
    timeline = found.timeline
    if timeline is not None:
        timeline = replace(timeline, path=made.text(timeline.path), notes=tuple(map(made.text, timeline.notes)))
    return replace(
        found,
        bounds=tuple(made.apply(one) for one in found.bounds),
        timeline=timeline,
        steps=tuple(steps),
        triage=tuple(replace(one, kernel=made.apply(one.kernel)) for one in found.triage),
        apart=tuple(map(made.text, found.apart)),
    )
