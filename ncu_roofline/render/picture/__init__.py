"""The roofline as a picture: what is drawn (``chart``, ``charts``), where (``frame``), the static drawing (``svg``)."""

from ncu_roofline.render.picture.chart import Chart, Mark, Roof
from ncu_roofline.render.picture.charts import charts
from ncu_roofline.render.picture.frame import Frame, fixed_frame
from ncu_roofline.render.picture.palette import DARK, LIGHT
from ncu_roofline.render.picture.svg import to_svg

__all__ = ["DARK", "LIGHT", "Chart", "Frame", "Mark", "Roof", "charts", "fixed_frame", "to_svg"]
