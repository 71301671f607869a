"""What every page has in common: its policy, its scripts and styles, its colours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ncu_roofline.render.html.library import Library, script_hash
from ncu_roofline.render.picture import DARK, LIGHT


def policy(scripts: Sequence[str], library: Library | None = None) -> str:
    """No request, and no script but ours and the library."""
    allowed = [f"'{script_hash(script)}'" for script in scripts] + ([library.source] if library else [])
    return (
        f"default-src 'none'; script-src {' '.join(allowed)}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def asset(name: str) -> str:
    """A style or a script beside this module, without its indentation and the lines that are comments."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    return re.sub(r"^ *//.*\n|^ +", "", text, flags=re.MULTILINE)


def theme() -> str:
    """The palette as properties, and how light attributes of the drawings turn dark on a screen."""
    light, dark = (
        " ".join(f"--{name.replace(' ', '-')}:{color};" for name, color in palette.items()) for palette in (LIGHT, DARK)
    )
    turned = " ".join(
        f'svg [{attribute}="{color}"]{{{attribute}:var(--{name.replace(" ", "-")})}}'
        for color, name in {color: name for name, color in reversed(LIGHT.items())}.items()
        for attribute in (("fill",) if name == "on fill" else ("fill", "stroke"))
    )
    return (
        f":root {{ color-scheme: light; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {dark} }}\n{turned} }}\n"
    )
