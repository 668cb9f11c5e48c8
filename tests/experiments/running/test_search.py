"""Settings by cross-validation, against plain loops."""

from functools import partial

import numpy as np
import pytest

from helpers.experiments import blobs, build_diary
from kernelcoding.experiments.definition import Dataset, Method
from kernelcoding.experiments.paper import digits
from kernelcoding.experiments.rows.one_kernel import nearest_code_row, residual_row, sparse_coder
from kernelcoding.experiments.rows.several_kernels import kernels_residual_row
from kernelcoding.experiments.running.estimator_inputs import (
    GramInputs,
    GramStackInputs,
    SampleInputs,
)
from kernelcoding.experiments.running.metrics import METRICS
from kernelcoding.experiments.running.search import SearchTask, atoms_for, choose_settings
from kernelcoding.experiments.running.splitting import halves
from kernelcoding.kernels import Gaussian, Linear


def task_of(X, y, inputs, n_folds=3):
    split = halves(n_folds)(Dataset(X, y, tuple("abcdefghij")), 0)
    bound = inputs(X[split.train], X[split.test])
    return SearchTask(bound.training, y[split.train], None, 10, split.folds, METRICS["accuracy"])


@pytest.mark.parametrize("kernel", [Gaussian(), Linear()], ids=repr)
def test_the_search_equals_a_plain_loop(kernel):
    """With a head: every point built, fitted and scored on its own."""
    dataset = digits.digits_dataset(None)
    X, y = dataset.samples[:200], dataset.target[:200]
    widths = {"width": (0.2, 2.0)} if isinstance(kernel, Gaussian) else {}
    space = {"alpha": (1e-3, 0.05), **widths}
    method = nearest_code_row("x", sparse_coder, kernel, space, 1)
    task = task_of(X, y, partial(GramInputs, kernel))
    choice = choose_settings(method, task, 20)
    best = (-1.0, None)
    for width in space.get("width", (None,)):
        gram = task.training(width).values
        for alpha in space["alpha"]:
            for metric in ("euclidean", "cosine"):
                point = {"alpha": alpha, "metric": metric} | ({"width": width} if width else {})
                score = np.mean([plain_score(method, point, gram, task, f) for f in task.folds])
                best = max(best, (score, point), key=lambda pair: pair[0])
    assert choice.score == pytest.approx(best[0])
    assert choice.settings == best[1]


def plain_score(method, point, gram, task, fold):
    fitted, asked = fold
    encoder = method.build(point, round(20 * len(fitted) / len(task.target)))
    encoder.fit(gram[fitted][:, fitted], task.target[fitted])
    head = method.head(point)
    head.fit(encoder.transform(gram[fitted][:, fitted]), task.target[fitted])
    said = head.predict(encoder.transform(gram[asked][:, fitted]))
    return 100 * np.mean(said == task.target[asked])


def test_folds_have_atoms_in_proportion():
    assert atoms_for(570, 912, 1216) == 428
    assert atoms_for(None, 912, 1216) == 912
    assert atoms_for(1, 2, 100) == 1
    assert atoms_for(10, 5, 5) == 5


def test_stacks_are_searched_as_matrices_are():
    """One kernel four times over is that kernel."""
    dataset = digits.digits_dataset(None)
    X, y = dataset.samples[:200], dataset.target[:200]
    space = {"alpha": (1e-3, 0.1)}
    four = kernels_residual_row(
        "x", sparse_coder, (Linear(),) * 4, {"weights": ("equal",), **space}
    )
    alone = choose_settings(residual_row("x", sparse_coder, Linear(), space),
                   task_of(X, y, partial(GramInputs, Linear())), None)  # fmt: skip
    together = choose_settings(four, task_of(X, y, partial(GramStackInputs, (Linear(),) * 4)), None)
    assert together.score == pytest.approx(alone.score)
    assert together.settings["alpha"] == alone.settings["alpha"]


def test_edges_of_the_search_space_are_told(tmp_path):
    diary = tmp_path / "d"
    dataset = blobs(None)
    split = halves(3)(dataset, 0)
    training = SampleInputs(dataset.samples[split.train], None).training
    target = dataset.target[split.train]
    task = SearchTask(training, target, None, 3, split.folds, METRICS["accuracy"])
    build = partial(build_diary, str(diary), None)
    assert choose_settings(Method("x", build, {"scale": (0.1, 1.0, 9.0)}), task, None).at_edge == ()
    assert choose_settings(Method("x", build, {"scale": (1.0, 5.0, 9.0)}), task, None).at_edge == (
        "scale",
    )
    assert choose_settings(Method("x", build, {"scale": (1.0,)}), task, None).score is None
