"""Outputs of a comparison: text, Markdown, JSON, JUnit, SARIF, a figure and a page."""

from ncu_roofline.render.comparison.figure import to_svg
from ncu_roofline.render.comparison.machine import to_json, to_junit, to_sarif
from ncu_roofline.render.comparison.markdown import to_markdown
from ncu_roofline.render.comparison.page import to_html
from ncu_roofline.render.comparison.text import to_text

__all__ = ["to_html", "to_json", "to_junit", "to_markdown", "to_sarif", "to_svg", "to_text"]
