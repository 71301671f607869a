"""``ncu-roofline rules``: what each rule checks, why, and what to do."""

from __future__ import annotations

import click

from ncu_roofline.errors import UsageError


@click.command()
@click.argument("codes", nargs=-1, metavar="[CODE...]")
def rules(codes: tuple[str, ...]) -> None:
    """List the rules, or print the documentation of some of them by code or name."""
    from ncu_roofline.checks import RULES as OF_REPORTS
    from ncu_roofline.comparison import COMPARISON_RULES
    from ncu_roofline.formats import aligned

    every = (*OF_REPORTS, *COMPARISON_RULES)
    if not codes:
        rows = [(rule.code, rule.severity.label, rule.name, rule.title) for rule in every]
        click.echo("\n".join(aligned(rows)))
        return
    found = {code: [rule for rule in every if code.upper() == rule.code or code.lower() == rule.name] for code in codes}
    for code, rules_of_code in found.items():
        if not rules_of_code:
            raise UsageError("CODE", code, "is no rule; ncu-roofline rules lists them")
    for number, (rule,) in enumerate(found.values()):
        needs = f"\nNeeds: {', '.join(rule.needs)}." if rule.needs else ""
        blank = "\n" if number else ""
        click.echo(f"{blank}{rule.code} {rule.name}\nSeverity: {rule.severity.label}.{needs}\n\n{rule.doc}")
