"""What a result leaves beside its number: histories, confusion, a few codes, atoms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.metrics import confusion_matrix

from ...classification import ResidualClassifier
from ...codes import Codes, dense
from ...records import Artifacts, Example, ExampleAtom
from ..definition import Dataset, Split
from .fit_and_predict import encoder_of
from .metrics import Answers, Metric
from .png import data_uri

N_EXAMPLES = 4
N_STRONGEST = 6
N_ATOM_IMAGES = 12
LONGEST = 400  # entries of a history


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A fitted model and its answers about the test part."""

    model: BaseEstimator
    queries: NDArray
    codes: Codes | None  # of the queries
    answers: Answers
    dataset: Dataset
    split: Split

    @property
    def truth(self) -> NDArray:
        """The targets of the test part."""
        return self.dataset.target[self.split.test]

    @property
    def ignored(self) -> NDArray | None:
        """What does not count when the test part is scored."""
        ignored = self.dataset.ignored
        return None if ignored is None else ignored[self.split.test]


def mean_nonzeros(codes: Codes | None) -> float | None:
    """Mean number of atoms per code, or None where there are no codes."""
    if codes is None:
        return None
    if sparse.issparse(codes):
        return float(np.diff(sparse.csr_array(codes).indptr).mean())
    return float(np.count_nonzero(codes, axis=1).mean())


def artifacts(done: Evaluation, metric: Metric) -> Artifacts:
    """Everything there is, as plain numbers and words; pictures for the first split only."""
    source = encoder_of(done.model)
    objective = _history(source, "objective_history_")
    steps = getattr(source, "objective_steps_", ()) if objective else ()
    gap, error = _certificate(done)
    is_first = done.split.number == 0
    return Artifacts(
        objective_history=objective,
        objective_steps=tuple(str(step) for step in steps[:LONGEST]),
        kernel_history=_history(source, "kernel_history_"),
        classes=tuple(done.dataset.names),
        confusion=_confusion(done),
        per_class=_per_class(done, metric),
        examples=_examples(done) if is_first else (),
        atom_images=_atom_images(done) if is_first else (),
        gap=gap,
        error=error,
    )


def _history(source: BaseEstimator | None, name: str) -> tuple[float, ...]:
    values = getattr(source, name, None)
    return () if values is None else tuple(_rounded(value, 7) for value in values[:LONGEST])


def _per_class(done: Evaluation, metric: Metric) -> tuple[tuple[str, float], ...]:
    if metric.per_class is None:
        return ()
    values = metric.per_class(done.truth, done.answers, done.ignored)
    return tuple(
        (name, round(float(value), 3))
        for name, value in zip(done.dataset.names, values, strict=True)
        if np.isfinite(value)
    )


def _confusion(done: Evaluation) -> tuple[tuple[int, ...], ...]:
    if done.answers.predictions is None or done.truth.ndim != 1:
        return ()
    labels = np.arange(len(done.dataset.names))
    counts = confusion_matrix(done.truth, done.answers.predictions, labels=labels)
    return tuple(tuple(row) for row in counts.tolist())


def _certificate(done: Evaluation) -> tuple[float | None, float | None]:
    """For codes of the residual rule: the largest gap to the optimum, and the mean error."""
    if not isinstance(done.model, ResidualClassifier) or done.codes is None:
        return None, None
    coder = done.model.coder_
    gap = coder.certify(done.queries, done.codes).max()
    error = coder.reconstruction_error(done.queries, done.codes).mean()
    # Relative to the norm of samples, of which the atoms are some.
    relative = error / coder.dictionary_.facts.squares.mean()
    # JSON has no infinity, the gap of a code outside its constraint.
    known = [_rounded(x, 4) if np.isfinite(x) else None for x in (gap, relative)]
    return known[0], known[1]


def _examples(done: Evaluation) -> tuple[Example, ...]:
    """Codes of a few test samples by the residual rule, wrong ones first.

    Learned atoms are no samples that could be shown with their labels.
    """
    model, predictions = done.model, done.answers.predictions
    if not isinstance(model, ResidualClassifier) or predictions is None or done.codes is None:
        return ()
    if model.coder_.dictionary_.index is None:
        return ()
    right = predictions == done.truth
    half = N_EXAMPLES // 2
    shown = np.concatenate([np.flatnonzero(~right)[:half], np.flatnonzero(right)])[:N_EXAMPLES]
    codes = dense(done.codes[shown])
    residuals = _residuals(model, done.queries[shown], codes)
    return tuple(
        _example(done, int(row), code, residual)
        for row, code, residual in zip(shown, codes, residuals, strict=True)
    )


def _residuals(model: ResidualClassifier, queries: NDArray, codes: NDArray) -> NDArray:
    """Squared distances of samples to what the atoms of each class make of them, (n, S)."""
    parts = [codes * (model.atom_classes_ == label) for label in range(len(model.classes_))]
    return np.column_stack([model.coder_.reconstruction_error(queries, part) for part in parts])


def _example(done: Evaluation, row: int, code: NDArray, residuals: NDArray) -> Example:
    names, split, model = done.dataset.names, done.split, done.model
    assert done.answers.predictions is not None
    strongest = np.argsort(-np.abs(code), kind="stable")[:N_STRONGEST]
    used = strongest[code[strongest] != 0]
    atoms = split.train[model.coder_.dictionary_.index]
    return Example(
        label=names[done.truth[row]],
        predicted=names[done.answers.predictions[row]],
        image=_picture(done.dataset, split.test[row]),
        atoms=tuple(
            ExampleAtom(
                weight=_rounded(code[atom], 4),
                label=names[done.dataset.target[atoms[atom]]],
                image=_picture(done.dataset, atoms[atom]),
            )
            for atom in used
        ),
        residuals=tuple(
            (names[label], _rounded(value, 5))
            for label, value in zip(model.classes_, residuals, strict=True)
        ),
    )


def _atom_images(done: Evaluation) -> tuple[str, ...]:
    """For each of some learned atoms, the training sample of largest weight in it."""
    nearest = getattr(encoder_of(done.model), "representatives_", None)
    if nearest is None or done.dataset.pictures is None:
        return ()
    first = done.split.train[np.asarray(nearest)[:N_ATOM_IMAGES, 0]]
    images = [_picture(done.dataset, index) for index in first]
    return tuple(image for image in images if image is not None)


def _picture(dataset: Dataset, index: int) -> str | None:
    return None if dataset.pictures is None else data_uri(dataset.pictures[index])


def _rounded(value: float, digits: int) -> float:
    """A number with as many digits as can matter, to keep files small."""
    return float(f"{value:.{digits}g}")
