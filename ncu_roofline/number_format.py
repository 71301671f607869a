"""Number formats: which one a file has, and numbers of texts written in it.

ncu follows the locale of the machine that it runs on: ``c`` groups with commas and has a decimal point, ``european``
the other way round. Knows nothing of metrics and units.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from ncu_roofline.errors import InputError, UsageError

LOCALES: Final = ("auto", "c", "european")
"""Number formats: ``c`` groups with commas and has a decimal point, ``european`` the other way round."""
_NOT_AVAILABLE: Final = ("", "n/a", "nan", "-nan", "inf", "-inf", "no data", "none")
_EUROPEAN: Final = (
    r"^-?0,[0-9]+$|^-?[0-9]{4,},[0-9]+$|^-?[0-9]{1,3}(\.[0-9]{3}){2,}$|^-?[0-9]{1,3}(\.[0-9]{3})+,[0-9]+$"
    r"|,[0-9]{1,2}$|,[0-9]{4,}$"
)
_C: Final = (
    r"^-?0\.[0-9]+$|^-?[0-9]{4,}\.[0-9]+$|^-?[0-9]{1,3}(,[0-9]{3}){2,}|,[0-9]{3}\.[0-9]+$"
    r"|\.[0-9]{1,2}$|\.[0-9]{4,}$"
)
_AMBIGUOUS: Final = r"^-?[1-9][0-9]{0,2}\.[0-9]{3}$"
_DECIMALS: Final = 2
"""Decimals that ncu prints, without zeros at the end."""
_CLEAR: Final = 3
"""How many times as many numbers of one format as of the other make the others single damaged cells."""
SEPARATORS: Final = {"c": (",", "."), "european": (".", ",")}
"""Separator between thousands, and the decimal one."""
_NUMBER: Final = {
    name: rf"^[-+]?(?:[0-9]+|[0-9]{{1,3}}(?:\{group}[0-9]{{3}})+)(?:\{point}[0-9]*)?(?:[eE][-+]?[0-9]+)?$"
    for name, (group, point) in SEPARATORS.items()
}
"""Numbers as a whole: what is none in a format says nothing about the format of the file."""
_GROUPED: Final = {
    name: rf"^[-+]?[0-9]{{1,3}}(?:\{group}[0-9]{{3}})+(?:\{point}[0-9]*)?$"
    for name, (group, point) in SEPARATORS.items()
}
"""Numbers with separators between thousands."""
_INSTANCES: Final = r"(?s)^(-?[0-9.,]+(?:[eE][-+]?[0-9]+)?)\s*\(.*\)$"


def number_format(path: str, texts: pl.Series, locale: str) -> tuple[str, bool]:
    """The number format of a file, from those of its distinct texts that can only be read one way.

    Also whether it is clear: so many are of this format that those of the other can only be damaged cells.

    Raises:
        InputError: if as many texts are of one format as of the other, all can be read both ways, or a stated format
            contradicts the file.
        UsageError: if ``locale`` is none of ``LOCALES``.

    """
    if locale not in LOCALES:
        raise UsageError("locale", locale, f"choose one of {', '.join(LOCALES)}")
    marked = texts.filter(texts.str.contains("[.,]"))
    found = {
        name: marked.filter(marked.str.contains(_NUMBER[name]) & marked.str.contains(pattern))
        for name, pattern in {"european": _EUROPEAN, "c": _C}.items()
    }
    most, least = sorted(found, key=lambda name: -len(found[name]))
    if locale != "auto":
        against = found["c" if locale == "european" else "european"]
        if len(against) > len(found[locale]):
            raise InputError(
                path,
                f"--locale {locale} contradicts the file: {against[0]!r} can only be read in the other number format",
            )
        return locale, True
    if len(found[most]) == len(found[least]) > 0:
        raise InputError(
            path,
            f"the numbers are of two formats: {found['c'][0]!r} has a decimal point, {found['european'][0]!r} a "
            "decimal comma",
            "Say which one holds with --locale c or --locale european.",
        )
    if len(found[most]):
        return most, len(found[most]) >= _CLEAR * len(found[least])
    ambiguous = marked.filter(marked.str.contains(_AMBIGUOUS))
    if len(ambiguous):
        raise InputError(
            path,
            f"the number format is ambiguous: {ambiguous[0]!r} may be a decimal fraction or thousands",
            "Say which one holds with --locale c or --locale european.",
        )
    return "c", True


def without_marks(text: pl.Expr) -> pl.Expr:
    """The number of a text, without the mark of a doubtful one and without instances, as in ``12 (3; 4; 5)``."""
    return text.str.strip_chars().str.strip_prefix("(!)").str.strip_chars().str.replace(_INSTANCES, "${1}")


def numbers(texts: pl.Series, locale: str, *, is_clear: bool) -> pl.DataFrame:
    """The ``value`` of numbers (NaN: no finite one), ``step``, ``is_whole`` and ``is_missing`` (printed as absent).

    A text that can only be read in the other number format has no value; unless the format is clear, one that can be
    read in either has none, too.
    """
    group, point = SEPARATORS[locale]
    plain = pl.first().str.replace_all(group, "", literal=True).str.replace(point, ".", literal=True)
    table = texts.to_frame().select(plain.alias("plain"), pl.first().alias("text"))
    is_odd = pl.col("text").str.contains(group, literal=True) & ~pl.col("text").str.contains(_GROUPED[locale])
    if not is_clear:
        is_odd |= pl.col("text").str.contains(r"^-?[1-9][0-9]{0,2}[.,][0-9]{3}$")
    value = pl.when(is_odd).then(None).otherwise(pl.col("plain").cast(pl.Float64, strict=False))
    table = table.with_columns(value.alias("value"))
    places = pl.col("plain").str.extract(r"\.([0-9]+)").str.len_bytes().fill_null(0).cast(pl.Int32)
    exponent = pl.col("plain").str.extract(r"[eE]([+-]?[0-9]{1,3})$").cast(pl.Int32, strict=False)
    # ncu prints two decimals and drops zeros; a number with an exponent has the digits that it shows.
    last = pl.when(exponent.is_null()).then(-pl.max_horizontal(places, pl.lit(_DECIMALS))).otherwise(exponent - places)
    return table.select(
        pl.when(pl.col("value").is_finite()).then("value").otherwise(np.nan).alias("value"),
        pl.lit(10.0).pow(last).alias("step"),
        ((places == 0) & exponent.is_null()).alias("is_whole"),
        pl.col("plain").str.to_lowercase().is_in(_NOT_AVAILABLE).alias("is_missing"),
    )
