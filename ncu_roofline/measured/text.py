"""The text of a file, whatever encoding a shell wrote it in."""

from __future__ import annotations

import codecs
from pathlib import Path

from ncu_roofline.errors import InputError


def read_text(path: Path) -> str:
    """UTF-8, or UTF-16 with a byte order mark as redirected output has it on Windows.

    Raises:
        InputError: the file cannot be read or is not text.

    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error
    utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return content.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(str(path), "is not text; a file of measured ceilings is") from error
