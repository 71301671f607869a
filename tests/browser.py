"""A page in headless Chromium, with what it said and asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Opened:
    """A page with what it said on the console and asked for."""

    def __init__(self, browser: Any, text: str, folder: Path, anchor: str = "", **options: Any) -> None:
        path = folder / "report.html"
        path.write_text(text, encoding="utf-8")
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page = browser.new_page(viewport={"width": 1280, "height": 800}, **options)
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"{path.as_uri()}{anchor}")

    def texts(self, selector: str) -> list[str]:
        return [str(text) for text in self.page.locator(selector).all_text_contents()]


def violations(opened: Opened) -> list[str]:
    """Rules of axe-core that the page breaks; the policy of the page has to be off, because axe is a script."""
    from axe_playwright_python.sync_playwright import Axe

    return [str(violation["id"]) for violation in Axe().run(opened.page).response["violations"]]
