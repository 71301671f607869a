"""The roofline as a picture: what is drawn (``chart``), where (``frame``), and the static drawing (``svg``)."""

from ncu_roofline.render.picture.chart import Chart, Mark, Roof, charts
from ncu_roofline.render.picture.frame import Frame, fixed_frame
from ncu_roofline.render.picture.palette import DARK, LIGHT
from ncu_roofline.render.picture.svg import to_svg

__all__ = ["DARK", "LIGHT", "Chart", "Frame", "Mark", "Roof", "charts", "fixed_frame", "to_svg"]
