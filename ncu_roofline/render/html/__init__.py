"""The report as one HTML file: complete without scripts and without styles, and without any request."""

from ncu_roofline.render.html.library import Library, from_network, given, inline
from ncu_roofline.render.html.page import to_html, to_notebook

__all__ = ["Library", "from_network", "given", "inline", "to_html", "to_notebook"]
