"""Messages on standard error, without names of people, machines and places where the user wants none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import click

from ncu_roofline.errors import InputError

if TYPE_CHECKING:
    from ncu_roofline.scrub import Scrubber

_KEY: Final = "ncu_roofline.scrubber"


def scrub(places: Iterable[str], *, kernels: bool) -> Scrubber:
    """Scrub every message of this command from now on; returns what does so.

    Args:
        places: paths that were given to the command.
        kernels: whether the names of kernels go, too.

    """
    from ncu_roofline.scrub import scrubber

    made = scrubber(places, kernels=kernels)
    scrub_by(made)
    return made


def scrub_by(made: Scrubber | None) -> None:
    """The same by a scrubber that knows more names."""
    click.get_current_context().meta[_KEY] = made


def of_error(ctx: click.Context, error: Exception) -> str:
    """The message of an error."""
    made: Scrubber | None = ctx.meta.get(_KEY)
    if made is None:
        return str(error)
    if made.kernels and isinstance(error, InputError):
        for name in error.kernels:
            made.kernel(name)
    return made.text(str(error))
