"""Displays: what is drawn, not how it looks."""

import builtins
import copy
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import kernelcoding as kc

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

from kernelcoding.displays import (  # noqa: E402
    CodeDisplay,
    DictionaryDisplay,
    HistoryDisplay,
)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def learned(digits):
    X, _ = digits
    coder = kc.KernelSparseCoder(alpha=0.05)
    return kc.KernelDictionaryLearning(coder, n_atoms=9, max_iter=4, tol=0).fit(X)


# Codes


@pytest.mark.parametrize("sparse_output", [False, True])
def test_stems_stand_at_the_atoms_a_code_uses(digits, sparse_output):
    X, Q = digits
    coder = kc.KernelSparseCoder(alpha=0.05, sparse_output=sparse_output).fit(X)
    display = CodeDisplay.from_estimator(coder, Q, index=3)
    code = kc.KernelSparseCoder(alpha=0.05).fit(X).transform(Q)[3]
    used = np.flatnonzero(code)
    np.testing.assert_array_equal(display.stem_.markerline.get_xdata(), used)
    np.testing.assert_allclose(display.stem_.markerline.get_ydata(), code[used])
    strongest = sorted(used, key=lambda atom: -abs(code[atom]))[:5]
    assert [text.get_text() for text in display.texts_] == [str(atom) for atom in strongest]
    assert display.ax_.get_title() == f"{len(used)} of {len(X)} atoms"
    assert display.figure_ is display.ax_.figure


def test_last_sample_and_given_axes(digits):
    X, Q = digits
    coder = kc.KernelSparseCoder(alpha=0.05).fit(X)
    _, ax = pyplot.subplots()
    last = CodeDisplay.from_estimator(coder, Q, index=-1, ax=ax)
    assert last.ax_ is ax
    np.testing.assert_array_equal(last.code, CodeDisplay.from_estimator(coder, Q, 39).code)


def test_strongest_atoms_have_their_names_and_pictures():
    code = np.array([0.1, -0.8, 0.0, 0.3])
    images = np.arange(4)[:, None, None] * np.ones((4, 2, 3))
    display = CodeDisplay.from_codes(
        sparse.csr_array(code[None]), images=images, labels=list("abcd"), n_strongest=2
    )
    assert [text.get_text() for text in display.texts_] == ["b", "d"]
    drawn = [box.offsetbox.get_data() for box in display.pictures_]
    np.testing.assert_array_equal(drawn, images[[1, 3]])
    assert [box.xy for box in display.pictures_] == [(1, -0.8), (3, 0.3)]


def test_pictures_of_neighbouring_atoms_do_not_overlap():
    code = np.zeros(500)
    code[[0, 380, 383, 386, 499]] = 0.3, -0.2, 0.1, 0.4, 0.2
    display = CodeDisplay.from_codes(code[None], images=np.ones((500, 8, 8)))
    display.figure_.canvas.draw()
    drawn = (box.offsetbox.get_window_extent() for box in display.pictures_)
    boxes = sorted(drawn, key=lambda box: box.x0)
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    frame = display.ax_.get_window_extent()
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)
    stems = display.ax_.transData.transform([(0, 0.4)])[0, 1]
    assert all(stems < box.y0 and box.y1 < frame.y1 for box in boxes)
    order = np.argsort([box.xybox[0] for box in display.pictures_])
    np.testing.assert_array_equal(display.strongest_[order], np.flatnonzero(code))


def test_a_row_of_a_data_frame_keeps_its_names(digits):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(digits[0]).rename(columns=str)
    coder = kc.KernelSparseCoder(alpha=0.05).fit(frame)  # a warning would be an error
    last = CodeDisplay.from_estimator(coder, frame, index=-1)
    np.testing.assert_array_equal(last.code, coder.transform(frame)[-1])


def test_a_code_of_zeros_has_no_stems():
    display = CodeDisplay.from_codes(np.zeros((1, 3)))
    assert display.stem_ is None
    assert display.texts_ == []


def test_wrong_input_for_codes():
    with pytest.raises(IndexError, match="index=2 is not within the 2 samples"):
        CodeDisplay.from_codes(np.eye(2), index=2)
    with pytest.raises(ValueError, match=r"labels must be one for each of the 2 atoms, got 1"):
        CodeDisplay.from_codes(np.eye(2), labels=["a"])
    with pytest.raises(ValueError, match=r"images of shape \(n, height, width\)"):
        CodeDisplay.from_codes(np.eye(2), images=np.eye(2))


# Dictionaries


def test_grid_holds_the_preimages(learned):
    display = DictionaryDisplay.from_estimator(learned, shape=(8, 8), rescale=False)
    grid = display.image_.get_array()
    assert grid.shape == (3 * 9 - 1, 3 * 9 - 1)
    points = learned.preimages()
    for atom in range(9):
        row, column = divmod(atom, 3)
        tile = grid[9 * row : 9 * row + 8, 9 * column : 9 * column + 8]
        np.testing.assert_array_equal(tile, points[atom].reshape(8, 8))
    assert grid[8].mask.all()  # NaN: the gap between rows


def test_grid_of_representatives_and_of_samples_as_atoms(learned, digits):
    X, _ = digits
    display = DictionaryDisplay.from_estimator(
        learned, shape=(8, 8), show="representatives", X=X, n_columns=9, rescale=False
    )
    samples = X[learned.representatives_[:, 0]].reshape(9, 8, 8)
    np.testing.assert_array_equal(display.pictures, samples)
    assert display.image_.get_array().shape == (8, 9 * 9 - 1)
    coder = kc.KernelSparseCoder().fit(X)
    np.testing.assert_array_equal(
        DictionaryDisplay.from_estimator(coder, (8, 8)).pictures, X.reshape(-1, 8, 8)
    )


def test_pictures_are_rescaled_one_by_one():
    atoms = np.array([[1.0, 3.0, 2.0, 1.0], [5.0, 5.0, 5.0, 5.0]])
    grid = DictionaryDisplay.from_atoms(atoms, (2, 2)).image_.get_array()
    np.testing.assert_array_equal(grid[:, :2], [[0, 1], [0.5, 0]])
    np.testing.assert_array_equal(grid[:, 3:], 0)


def test_colours_have_white_gaps():
    grid = DictionaryDisplay.from_atoms(np.zeros((3, 2, 2, 3))).image_.get_array()
    assert grid.shape == (5, 5, 3)
    assert grid[2].min() == 1
    assert grid[:2, :2].max() == 0


def test_wrong_input_for_dictionaries(learned):
    with pytest.raises(ValueError, match=r"shape=\(4, 4\) holds 16 numbers, but atoms have 64"):
        DictionaryDisplay.from_estimator(learned, shape=(4, 4))
    with pytest.raises(ValueError, match="needs the training samples: give X"):
        DictionaryDisplay.from_estimator(learned, (8, 8), show="representatives")
    with pytest.raises(ValueError, match=r"show must be one of .*got 'dreams'"):
        DictionaryDisplay.from_estimator(learned, (8, 8), show="dreams")


# Histories


def test_history_with_its_half_steps(learned):
    display = HistoryDisplay.from_estimator(learned)
    history = learned.objective_history_
    assert len(history) == 1 + 2 * learned.n_iter_
    np.testing.assert_array_equal(display.line_.get_ydata(), history)
    np.testing.assert_array_equal(display.markers_["codes"].get_ydata(), history[::2])
    np.testing.assert_array_equal(display.markers_["atoms"].get_xdata(), range(1, len(history), 2))
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["codes", "atoms"]


def test_half_steps_are_those_that_a_callback_saw(digits):
    X, _ = digits
    y = np.arange(len(X)) % 2
    seen = []
    estimator = kc.SupervisedKernelCoding(
        kc.KernelSparseCoder(alpha=0.05), n_atoms=6, classifier="linear", max_iter=2
    ).set_params(callback=lambda progress: seen.append(progress.step))
    display = HistoryDisplay.from_estimator(estimator.fit(X, y))
    assert display.steps == seen
    assert set(display.markers_) == {"codes", "atoms", "classifier"}


def marked(display):
    """The name that stands at each value, and the values under the marks."""
    names, values = {}, {}
    for name, marks in display.markers_.items():
        for place, value in marks.get_xydata():
            assert place not in names
            names[place], values[place] = name, value
    order = sorted(names)
    return order, [names[place] for place in order], [values[place] for place in order]


@pytest.mark.parametrize("rounds", [0, 2])
def test_half_steps_that_an_estimator_tells_are_marked(digits, rounds):
    """Kernel learning starts the rounds anew: their number says nothing, the estimator must."""
    X, _ = digits
    seen = []
    estimator = kc.KernelDictionaryLearning(
        kc.KernelSparseCoder(alpha=0.05), n_atoms=6, max_iter=2, tol=0,
        learn_kernel=kc.KernelLearning(max_iter=1, rounds=rounds) if rounds else False,
        callback=lambda progress: seen.append((progress.step, progress.objective)),
    ).fit(X)  # fmt: skip
    steps, objectives = zip(*seen, strict=True)
    assert steps.count("codes") == 3 * (1 + rounds)
    display = HistoryDisplay.from_estimator(estimator)
    places, names, values = marked(display)
    assert places == list(range(len(estimator.objective_history_)))
    assert names == list(steps)
    np.testing.assert_array_equal(values, estimator.objective_history_)
    np.testing.assert_array_equal(values, objectives)
    legend = display.ax_.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["codes", "atoms"]
    assert legend.get_title().get_text() == "after"


def test_what_an_estimator_tells_goes_before_what_must_have_been(learned):
    told = copy.copy(learned)
    told.objective_steps_ = ["words"] * len(learned.objective_history_)
    assert list(HistoryDisplay.from_estimator(told).markers_) == ["words"]
    told.objective_steps_ = ["words"]  # of another run
    assert HistoryDisplay.from_estimator(told).steps == HistoryDisplay.from_estimator(learned).steps


def test_batches_have_no_half_steps(digits):
    X, _ = digits
    online = kc.KernelDictionaryLearning(n_atoms=5).partial_fit(X[:40]).partial_fit(X[40:])
    display = HistoryDisplay.from_estimator(online)
    assert display.markers_ == {}
    assert len(display.line_.get_ydata()) == 2


def test_kernel_history(digits):
    X, _ = digits
    coder = kc.KernelSparseCoder(alpha=0.05, atoms=10, learn_kernel=True, random_state=0).fit(X)
    display = HistoryDisplay.from_estimator(coder, "kernel")
    np.testing.assert_array_equal(display.line_.get_ydata(), coder.kernel_history_)
    assert display.ax_.get_ylabel() == "objective / discrepancy"


def test_wrong_input_for_histories(learned, digits):
    with pytest.raises(ValueError, match=r"no kernel_history_.*learn_kernel=True"):
        HistoryDisplay.from_estimator(learned, "kernel")
    with pytest.raises(ValueError, match="history must be one of"):
        HistoryDisplay.from_estimator(learned, "weather")
    with pytest.raises(ValueError, match="steps must name each of the 2 values, got 1"):
        HistoryDisplay.from_history([1.0, 2.0], steps=["codes"])


# Without matplotlib


def test_without_matplotlib_a_sentence_says_so(monkeypatch):
    true_import = builtins.__import__

    def importing(name, *arguments):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name)
        return true_import(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(ImportError, match=r"HistoryDisplay needs matplotlib.*kernelcoding\[report"):
        HistoryDisplay.from_history([1.0])
