"""Curves of a metric against atoms: what is drawn, not how it looks."""

import numpy as np
import pytest

from helpers import records

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

from kernelcoding.displays import AtomsCurveDisplay  # noqa: E402


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


def test_curves_are_means_with_bands(rng):
    sizes, values = [50, 100, 200], {"a": rng.normal(size=(4, 3)), "b": rng.normal(size=(1, 3))}
    paper = {"a": [np.nan, 51.0, np.nan]}
    display = AtomsCurveDisplay.from_arrays(sizes, values, paper, metric="mAP")
    means, spreads = values["a"].mean(axis=0), values["a"].std(axis=0, ddof=1)
    np.testing.assert_array_equal(display.lines_["a"].get_xdata(), sizes)
    np.testing.assert_allclose(display.lines_["a"].get_ydata(), means)
    corners = display.bands_["a"].get_paths()[0].vertices
    for size, low, high in zip(sizes, means - spreads, means + spreads, strict=True):
        heights = corners[corners[:, 0] == size, 1]
        np.testing.assert_allclose([heights.min(), heights.max()], [low, high])
    np.testing.assert_array_equal(display.paper_["a"].get_xydata(), [[100, 51]])
    assert list(display.paper_) == ["a"]
    assert display.ax_.get_ylabel() == "mAP, %"
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["a", "a, paper", "b"]


def test_missing_values_do_not_count():
    display = AtomsCurveDisplay.from_arrays(
        [1, 2, 3], {"a": [[1.0, np.nan, 5.0], [3.0, np.nan, np.nan]]}
    )
    np.testing.assert_array_equal(display.lines_["a"].get_xydata(), [[1, 2], [3, 5]])


def test_curves_from_files_and_from_lines(tmp_path, rng):
    lines = records.fmd(rng)
    path = records.write(tmp_path / "fmd.jsonl", lines)
    from_file = AtomsCurveDisplay.from_records(path)
    from_lines = AtomsCurveDisplay.from_records(iter(lines), table="Accuracy against atoms")
    for method in records.METHODS:
        for position, size in enumerate((50, 100, 200, 300, 400, 500)):
            mean = np.mean(
                [x["value"] for x in lines[1:] if (x["method"], x["size"]) == (method, size)]
            )
            for display in (from_file, from_lines):
                x, y = display.lines_[method].get_xydata()[position]
                assert x == size
                assert y == pytest.approx(mean)
    np.testing.assert_array_equal(from_file.paper_["kSC"].get_xydata(), [[500, 53.4]])
    assert set(from_file.paper_) == {"SC", "kSC", "kLLC"}


def test_several_tables_need_a_name(rng):
    lines = records.fmd(rng)[1:]
    other = [line | {"experiment": "voc"} for line in lines]
    with pytest.raises(ValueError, match=r"found \['fmd: .*voc: .*Name the experiment"):
        AtomsCurveDisplay.from_records(lines + other)
    display = AtomsCurveDisplay.from_records(lines + other, experiment="voc")
    assert display.values["SC"].shape == (3, 6)
    with pytest.raises(ValueError, match="found none"):
        AtomsCurveDisplay.from_records(lines, table="Results")


def test_wrong_shapes_of_values():
    with pytest.raises(ValueError, match=r"shape \(n_splits, 2\).*got \(1, 3\)"):
        AtomsCurveDisplay.from_arrays([1, 2], {"a": [1.0, 2.0, 3.0]})
