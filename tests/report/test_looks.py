"""Lines that can be told apart: colours, markers, and controls beside what they control."""

import itertools
import re

import numpy as np
import pytest

from kernelcoding.experiments import methods
from kernelcoding.kernels import Gaussian
from kernelcoding.report import writing
from kernelcoding.report.looks import COLOURS, Look, looks_of
from kernelcoding.report.matrices import confusion_chart

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


def test_controls_share_the_look_of_what_they_control():
    names = ["SC", "a, control", "a", "orphan, control", "b", "b, control", "SC"]
    looks = looks_of(names)
    assert list(looks) == list(dict.fromkeys(names))
    assert looks["a, control"] == Look(looks["a"].index, is_control=True)
    assert looks["b, control"] == Look(looks["b"].index, is_control=True)
    assert looks["a, control"].marker == looks["a"].marker
    assert looks["a, control"].style == f"{looks['a'].style} dashed"
    assert not looks["orphan, control"].is_control
    assert [looks[name].index for name in ("SC", "a", "orphan, control", "b")] == [0, 1, 2, 3]


def test_experiments_name_controls_as_the_page_expects():
    coder = methods.sparse_coder
    method = methods.supervised("l-SkSC", coder, "linear", Gaussian(), {"alpha": (0.1,)}, 2)
    control = methods.control(method)
    looks = looks_of([method.name, control.name])
    assert looks[control.name] == Look(looks[method.name].index, is_control=True)


def test_every_method_of_a_crowded_figure_looks_different():
    names = [f"m{i}{end}" for i in range(2 * COLOURS) for end in ("", ", control")]
    looks = looks_of(names).values()
    assert len({look.name for look in looks}) == len(names)
    assert Look(COLOURS).style == f"{Look(0).style} dotted"
    assert len({(look.style, look.marker, look.mark) for look in looks}) == len(names)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_of_lines_are_far_apart(scheme):
    pairs = re.findall(r"--c\d: light-dark\((#\w{6}), (#\w{6})\)", writing.asset("report.css"))
    assert len(pairs) == COLOURS
    values = np.array([[int(p[scheme][i : i + 2], 16) for i in (1, 3, 5)] for p in pairs]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    points = np.cbrt(linear @ np.transpose(CONES)) @ np.transpose(OKLAB)
    nearest = min(np.linalg.norm(a - b) for a, b in itertools.combinations(points, 2))
    assert nearest > 0.12  # what is 0.02 apart can just be told apart side by side


def test_every_colour_has_its_class():
    style = writing.asset("report.css")
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
