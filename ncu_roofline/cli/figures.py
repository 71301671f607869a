"""Files of ``--figure`` and ``--html``: which there are, by their names, and what is in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ncu_roofline.errors import UsageError

if TYPE_CHECKING:
    from ncu_roofline.analysis import Analysis
    from ncu_roofline.render.html import Library
    from ncu_roofline.render.picture import Chart, Frame

SCREEN, PAPER = SIZES = ("screen", "paper")
_EPOCH: Final = "SOURCE_DATE_EPOCH"


def frame(axes: str) -> Frame:
    """The axes that ``--axes`` fixes."""
    from ncu_roofline.render.picture import fixed_frame

    try:
        return fixed_frame(axes)
    except ValueError as error:
        raise UsageError("--axes", axes, "is not LOW:HIGH,LOW:HIGH, each above 0 and of at least a decade") from error


def library(choice: str) -> Library | None:
    """The plotly.js that ``--plotlyjs`` asks for."""
    from ncu_roofline.render.html import from_network, given, inline

    if choice == "none":
        return None
    if choice in ("inline", "cdn"):
        return inline() if choice == "inline" else from_network()
    try:
        return given(Path(choice).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError("--plotlyjs", choice, f"is not inline, none or cdn, and no file: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError("--plotlyjs", choice, "is no text in UTF-8") from error
    except ValueError as error:
        raise UsageError("--plotlyjs", choice, str(error)) from error


def figures(analysis: Analysis, name: str, axes: Frame | None, size: str) -> dict[str, str | bytes]:
    """Drawings by the names of their files, those of the second device with ``-2`` and so on.

    Raises:
        UsageError: if the name is of no picture, or its converter is not installed.

    """
    from ncu_roofline.render.picture import charts
    from ncu_roofline.render.picture.paper import has_panels

    path, kind = Path(name), _kind(name)
    drawings = _for_paper if size == PAPER else _for_screen
    drawn = charts(analysis, axes)
    if size == PAPER and not any(map(has_panels, drawn)):
        raise UsageError("--figure-size", size, f"has nothing to draw: no group has FLOP and bytes; take {SCREEN}")
    files: dict[str, str | bytes] = {}
    for number, chart in enumerate(drawn, start=1):
        place = f"-{number}" if number > 1 else ""
        files |= _files(path.with_stem(f"{path.stem}{place}"), drawings(chart, kind), is_print=size == PAPER)
    return files


def light_and_dark(name: str, draw: Callable[[dict[str, str]], str]) -> dict[str, str | bytes]:
    """A drawing in both sets of colours by the names of its files.

    Raises:
        UsageError: if the name is of no picture, or its converter is not installed.

    """
    return _files(Path(name), _in_both(_kind(name), draw), is_print=False)


def _kind(name: str) -> str:
    """What kind of picture a file is by its name."""
    kind = Path(name).suffix.lower()
    if kind not in (".svg", ".png", ".pdf"):
        raise UsageError("--figure", name, "is no name of a picture (out.svg, out.png or out.pdf)")
    return kind


def _files(path: Path, drawings: Iterable[tuple[str, str]], *, is_print: bool) -> dict[str, str | bytes]:
    """Drawings by the names of their files, converted to the kind of the path; other texts stay as they are."""
    from ncu_roofline.render.picture.convert import EXTRA, PRINT, to_pdf, to_png

    kind = path.suffix.lower()
    png = partial(to_png, scale=PRINT) if is_print else to_png
    kinds: dict[str, Callable[[str], str | bytes]] = {".svg": str, ".png": png, ".pdf": to_pdf}
    files: dict[str, str | bytes] = {}
    for end, drawing in drawings:
        try:
            content = kinds[kind](drawing) if end.endswith(kind) else drawing
        except ModuleNotFoundError as error:
            needed = f"needs a converter: pip install 'ncu-roofline[{EXTRA}]', or write an SVG"
            raise UsageError("--figure", str(path), needed) from error
        written = end.removesuffix(kind) + path.suffix if end.endswith(kind) else end
        files[str(path.with_name(f"{path.stem}{written}"))] = content
    return files


def _for_screen(chart: Chart, kind: str) -> Iterator[tuple[str, str]]:
    from ncu_roofline.render.picture import to_svg

    return _in_both(kind, lambda colors: to_svg(chart, colors))


def _in_both(kind: str, draw: Callable[[dict[str, str]], str]) -> Iterator[tuple[str, str]]:
    """Light and dark; a PDF is printed and has no dark one."""
    from ncu_roofline.render.picture import DARK, LIGHT

    yield kind, draw(LIGHT)
    if kind != ".pdf":
        yield f"-dark{kind}", draw(DARK)


def _for_paper(chart: Chart, kind: str) -> Iterator[tuple[str, str]]:
    """One column of a paper, and a text with what its caption has to say."""
    from ncu_roofline.render.picture.paper import caption, to_paper

    yield kind, to_paper(chart, "" if kind == ".pdf" else "pt")
    yield ".txt", caption(chart, _date())


def _date() -> str | None:
    """The day that ``SOURCE_DATE_EPOCH`` (reproducible-builds.org) names; outputs have no other date."""
    seconds = os.environ.get(_EPOCH)
    if not seconds:
        return None
    try:
        return datetime.fromtimestamp(int(seconds), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(_EPOCH, seconds, "is no number of seconds since 1970") from error
