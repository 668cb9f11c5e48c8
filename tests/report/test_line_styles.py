"""Lines that can be told apart: colours, markers, and controls beside what they control."""

import itertools
import re

import numpy as np
import pytest

from kernelcoding.report import html_file
from kernelcoding.report.confusion_matrices import confusion_chart
from kernelcoding.report.line_styles import COLOURS, LineStyle, line_styles_of

# Linear light to cone responses and on to OKLab (Ottosson 2020).
CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
OKLAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def test_controls_share_the_style_of_what_they_control():
    controls = {"SC": None, "control of a": "a", "a": None, "orphan": "nobody", "b": None, "c": "b"}
    styles = line_styles_of(controls)
    assert list(styles) == list(controls)
    assert styles["control of a"] == LineStyle(styles["a"].index, is_control=True)
    assert styles["c"] == LineStyle(styles["b"].index, is_control=True)
    assert styles["control of a"].marker == styles["a"].marker
    assert styles["control of a"].css == f"{styles['a'].css} dashed"
    assert not styles["orphan"].is_control
    assert [styles[name].index for name in ("SC", "a", "orphan", "b")] == [0, 1, 2, 3]


def test_every_method_of_a_crowded_figure_looks_different():
    owners = {f"m{i}": None for i in range(2 * COLOURS)}
    controls = owners | {f"control of {name}": name for name in owners}
    styles = line_styles_of(controls).values()
    assert len({style.name for style in styles}) == len(controls)
    assert LineStyle(COLOURS).css == f"{LineStyle(0).css} dotted"
    assert len({(style.css, style.marker, style.mark) for style in styles}) == len(controls)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_of_lines_are_far_apart(scheme):
    pairs = re.findall(r"--c\d: light-dark\((#\w{6}), (#\w{6})\)", html_file.asset("report.css"))
    assert len(pairs) == COLOURS
    values = np.array([[int(p[scheme][i : i + 2], 16) for i in (1, 3, 5)] for p in pairs]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    points = np.cbrt(linear @ np.transpose(CONES)) @ np.transpose(OKLAB)
    nearest = min(np.linalg.norm(a - b) for a, b in itertools.combinations(points, 2))
    assert nearest > 0.12  # what is 0.02 apart can just be told apart side by side


def test_every_colour_has_its_class():
    style = html_file.asset("report.css")
    assert ".series { color: var(--c0); }" in style
    for index in range(1, COLOURS):
        assert f".s{index} {{ color: var(--c{index}); }}" in style


def test_tints_grow_with_the_share_of_the_row():
    text = confusion_chart(["a", "b"], [[3, 1], [2, 2]], "x")
    shares = re.findall(r'class="cell (right|wrong)".*?fill-opacity="([\d.]+)"', text)
    assert [kind for kind, _ in shares] == ["right", "wrong", "wrong", "right"]
    (high, low, *even) = [float(opacity) for _, opacity in shares]
    assert high > even[0] == even[1] > low > 0.2
    assert high - even[0] == pytest.approx(even[0] - low, abs=0.011)  # 3/4, 1/2, 1/4
