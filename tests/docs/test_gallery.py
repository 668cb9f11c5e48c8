"""Examples of the gallery end in a picture; some run here, the build of the site runs all."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = sorted(EXAMPLES.glob("*/plot_*.py"))
QUICK = (
    "coding/plot_first_codes.py",
    "data/plot_own_kernel_and_prior.py",
    "labels/plot_precomputed.py",
    "learning/plot_dictionary_learning.py",
    "scale/plot_save_and_load.py",
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_has_a_title_and_ends_in_a_picture(file):
    tree = ast.parse(file.read_text())
    title, rule = ast.get_docstring(tree).splitlines()[:2]
    assert rule == "=" * len(title)
    assert ast.unparse(tree.body[-1]) == "plt.show()"


def test_there_are_enough():
    assert 15 <= len(FILES) <= 20


@pytest.mark.parametrize("name", QUICK)
def test_an_example_runs(name):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pyplot, "show", lambda: None)
        runpy.run_path(str(EXAMPLES / name))
    figure = pyplot.gcf()
    assert any(ax.has_data() for ax in figure.axes)
    pyplot.close("all")
