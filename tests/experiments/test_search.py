"""Settings by cross-validation, against plain loops."""

from functools import partial

import numpy as np
import pytest

from kernelcoding.experiments import digits, mixed
from kernelcoding.experiments import methods as m
from kernelcoding.experiments.definition import Dataset
from kernelcoding.experiments.material import Grams, Stacks
from kernelcoding.experiments.metrics import METRICS
from kernelcoding.experiments.search import Lesson, atoms_for, choose
from kernelcoding.experiments.splitting import halves
from kernelcoding.kernels import Gaussian, Linear


def lesson_of(X, y, material, n_folds=3):
    split = halves(n_folds)(Dataset(X, y, tuple("abcdefghij")), 0)
    bound = material(X[split.train], X[split.test])
    return Lesson(bound.training, y[split.train], None, 10, split.folds, METRICS["accuracy"])


@pytest.mark.parametrize("kernel", [Gaussian(), Linear()], ids=repr)
def test_the_search_equals_a_plain_loop(kernel):
    """With a head: every point built, fitted and scored on its own."""
    dataset = digits.load(None)
    X, y = dataset.samples[:200], dataset.target[:200]
    widths = {"width": (0.2, 2.0)} if isinstance(kernel, Gaussian) else {}
    space = {"alpha": (1e-3, 0.05), **widths}
    method = m.nearest_code("x", m.sparse_coder, kernel, space, 1)
    lesson = lesson_of(X, y, partial(Grams, kernel))
    choice = choose(method, lesson, 20)
    best = (-1.0, None)
    for width in space.get("width", (None,)):
        gram = lesson.training(width).values
        for alpha in space["alpha"]:
            for metric in ("euclidean", "cosine"):
                point = {"alpha": alpha, "metric": metric} | ({"width": width} if width else {})
                score = np.mean([plain_score(method, point, gram, lesson, f) for f in lesson.folds])
                best = max(best, (score, point), key=lambda pair: pair[0])
    assert choice.score == pytest.approx(best[0])
    assert choice.settings == best[1]


def plain_score(method, point, gram, lesson, fold):
    fitted, asked = fold
    encoder = method.build(point, round(20 * len(fitted) / len(lesson.target)))
    encoder.fit(gram[fitted][:, fitted], lesson.target[fitted])
    head = method.head(point)
    head.fit(encoder.transform(gram[fitted][:, fitted]), lesson.target[fitted])
    said = head.predict(encoder.transform(gram[asked][:, fitted]))
    return 100 * np.mean(said == lesson.target[asked])


def test_folds_have_atoms_in_proportion():
    assert atoms_for(570, 912, 1216) == 428
    assert atoms_for(None, 912, 1216) == 912
    assert atoms_for(1, 2, 100) == 1
    assert atoms_for(10, 5, 5) == 5


def test_stacks_are_searched_as_matrices_are():
    """One kernel four times over is that kernel."""
    dataset = digits.load(None)
    X, y = dataset.samples[:200], dataset.target[:200]
    space = {"alpha": (1e-3, 0.1)}
    four = mixed.residual("x", m.sparse_coder, (Linear(),) * 4, {"weights": ("equal",), **space})
    alone = choose(m.residual("x", m.sparse_coder, Linear(), space),
                   lesson_of(X, y, partial(Grams, Linear())), None)  # fmt: skip
    together = choose(four, lesson_of(X, y, partial(Stacks, (Linear(),) * 4)), None)
    assert together.score == pytest.approx(alone.score)
    assert together.settings["alpha"] == alone.settings["alpha"]
