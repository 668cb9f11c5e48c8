"""Draws the picture of the start page, from the code of that page: python docs/figures/start.py."""

import re
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot

DOCS = Path(__file__).parents[1]
code = re.search(r"```python\n(.*?)```", (DOCS / "index.md").read_text(), flags=re.DOTALL)
exec(code[1])
pyplot.gcf().set_size_inches(8, 3.4)
pyplot.savefig(DOCS / "figures" / "start.png", dpi=110, bbox_inches="tight")
