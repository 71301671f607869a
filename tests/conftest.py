"""Fixtures: where the corpus lies, and writing small reports."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import CORPUS

Write = Callable[..., str]


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real reports; without it tests skip, except in CI, where they have to run."""
    if not (CORPUS / "INDEX.tsv").exists():
        if os.environ.get("CI"):
            pytest.fail(f"the corpus has to be there in CI: {CORPUS}")
        pytest.skip(f"no corpus at {CORPUS} (NCU_ROOFLINE_CORPUS)")
    return CORPUS


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write text or bytes to a file of a fresh folder and return its path."""

    def _write(content: str | bytes, name: str = "report.csv") -> str:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return _write


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium; without it tests skip, except in CI, where they have to run."""
    chromium = shutil.which("chromium")
    if chromium is None and not os.environ.get("CI"):
        pytest.skip("no chromium on the PATH")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tool:
        started = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()
