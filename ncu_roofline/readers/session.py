"""The session page of a report, ``ncu --page session --csv``: how it was made."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ncu_roofline.errors import InputError
from ncu_roofline.readers.packed import UNPACKING_ERRORS, unpacked
from ncu_roofline.readers.report import Session

VERSION_PROPERTY: Final = "Nsight Compute Target"

_COMMAND_LINE: Final = "Profiler Command Line"
_HEADERS: Final = ("Launch Attribute", "Session Attribute", "Process Id", "Device Attribute")
_DEVICE_NAME: Final = "display_name"


def read_session(path: str) -> Session:
    """Read a session page.

    Raises:
        InputError: if the file cannot be read or is none.

    """
    try:
        with Path(path).open("rb") as file:
            text = unpacked(file).read().decode("utf-8-sig", "replace")
    except UNPACKING_ERRORS as error:
        raise InputError(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        tables = _tables(list(csv.reader(text.splitlines())))
    except csv.Error as error:
        raise InputError(path, f"cannot be read: {error}") from error
    if not tables.keys() & {"Launch Attribute", "Session Attribute"}:
        raise InputError(
            path, "this is not the session page of a report",
            "Export it with: ncu --import REPORT --page session --csv > session.csv",
        )  # fmt: skip
    launch = {row[0]: row[1] for row in tables.get("Launch Attribute", ())}
    properties = {row[0]: row[1] for row in tables.get("Session Attribute", ())}
    devices = [row[1:] for row in tables.get("Device Attribute", ()) if row[0] == _DEVICE_NAME]
    return Session(
        command_line=launch.get(_COMMAND_LINE),
        ncu_version=properties.get(VERSION_PROPERTY),
        properties=properties,
        processes=tuple(row[0] for row in tables.get("Process Id", ())),
        devices=tuple(devices[0]) if devices else (),
        path=path,
    )


def session_beside(path: str) -> str | None:
    """The session page next to a report: ``x_session.csv`` beside ``x.csv``, ``x_details.csv`` or ``x_raw.csv``."""
    report = Path(path)
    if report.suffix.lower() != ".csv":
        return None
    names = []
    for separator in "_-.":
        for page in ("details", "raw", "metrics"):
            stem = report.stem.removesuffix(f"{separator}{page}")
            if stem != report.stem:
                names.append(f"{stem}{separator}session.csv")
        names.append(f"{report.stem}{separator}session.csv")
    return next((str(report.with_name(name)) for name in names if report.with_name(name).is_file()), None)


def _tables(rows: Sequence[Sequence[str]]) -> dict[str, list[Sequence[str]]]:
    """Rows below each header, by the first cell of it."""
    tables: dict[str, list[Sequence[str]]] = {}
    current: list[Sequence[str]] | None = None
    for row in rows:
        if len(row) < 2:
            current = None
        elif row[0] in _HEADERS:
            current = tables.setdefault(row[0], [])
        elif current is not None:
            current.append(row)
    return tables
