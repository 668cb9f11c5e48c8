"""What a result leaves to look at: histories, confusion, codes of a few samples, atoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import confusion_matrix

from ..classification import ResidualClassifier
from .asking import encoder_of
from .definition import Dataset, Split
from .metrics import Answers, Metric
from .pictures import data_uri

N_EXAMPLES = 4
N_STRONGEST = 6
N_ATOMS = 12
LONGEST = 400  # entries of a history


@dataclass(frozen=True, slots=True)
class Work:
    """A fitted model and what it was asked."""

    model: Any
    queries: Any
    codes: Any  # of the queries, or None
    answers: Answers
    dataset: Dataset
    split: Split


def mean_nonzeros(codes: Any) -> float | None:
    """Mean number of atoms a code uses, or None where there are no codes."""
    if codes is None:
        return None
    if sparse.issparse(codes):
        return float(np.diff(sparse.csr_array(codes).indptr).mean())
    return float(np.count_nonzero(codes, axis=1).mean())


def artifacts(work: Work, metric: Metric) -> dict[str, Any]:
    """Everything there is, as plain lists and words; pictures for the first split only."""
    found = {**_histories(work.model), **_judgement(work, metric), **_certificate(work)}
    if work.split.number == 0:
        found |= _examples(work) | _atom_images(work)
    return found


def _histories(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    source = encoder_of(model)
    objective = getattr(source, "objective_history_", None)
    if objective is not None and len(objective):
        found["objective_history"] = _rounded(objective[:LONGEST])
        found["objective_steps"] = [str(step) for step in source.objective_steps_[:LONGEST]]
    kernel = getattr(source, "kernel_history_", None)
    if kernel is not None and len(kernel):
        found["kernel_history"] = _rounded(kernel[:LONGEST])
    return found


def _judgement(work: Work, metric: Metric) -> dict[str, Any]:
    dataset, target = work.dataset, work.dataset.target[work.split.test]
    found: dict[str, Any] = {"classes": list(dataset.names)}
    if metric.per_class is not None:
        ignored = None if dataset.ignored is None else dataset.ignored[work.split.test]
        values = metric.per_class(target, work.answers, ignored)
        found["per_class"] = {
            name: round(float(value), 3)
            for name, value in zip(dataset.names, values, strict=True)
            if np.isfinite(value)
        }
    if work.answers.predictions is not None and target.ndim == 1:
        labels = np.arange(len(dataset.names))
        counts = confusion_matrix(target, work.answers.predictions, labels=labels)
        found["confusion"] = counts.tolist()
    return found


def _certificate(work: Work) -> dict[str, Any]:
    """For codes of the residual rule: the largest gap to the optimum, and the mean error."""
    if not isinstance(work.model, ResidualClassifier) or work.codes is None:
        return {}
    coder = work.model.coder_
    gap = coder.certify(work.queries, work.codes).max()
    error = coder.reconstruction_error(work.queries, work.codes).mean()
    # Relative to the norm of samples, of which the atoms are some.
    found = {"gap": gap, "error": error / np.diag(coder.dictionary_.gram).mean()}
    # JSON has no infinity, the gap of a code outside its constraint.
    known = {name: float(f"{value:.4g}") for name, value in found.items() if np.isfinite(value)}
    return {"certificate": known}


def _examples(work: Work) -> dict[str, Any]:
    """Codes of a few test samples by the residual rule, right and wrong ones."""
    model, split = work.model, work.split
    predictions = work.answers.predictions
    if not isinstance(model, ResidualClassifier) or predictions is None or work.codes is None:
        return {}
    right = predictions == work.dataset.target[split.test]
    half = N_EXAMPLES // 2
    shown = np.concatenate([np.flatnonzero(~right)[:half], np.flatnonzero(right)])[:N_EXAMPLES]
    codes = work.codes[shown]
    codes = codes.toarray() if sparse.issparse(codes) else codes
    residuals = _residuals(model, work.queries[shown], codes)
    return {
        "examples": [
            _example(work, int(row), code, residual)
            for row, code, residual in zip(shown, codes, residuals, strict=True)
        ]
    }


def _residuals(model: ResidualClassifier, queries: Any, codes: NDArray) -> NDArray:
    """Squared distances of samples to what the atoms of each class make of them, (n, S)."""
    parts = [codes * (model.atom_classes_ == label) for label in range(len(model.classes_))]
    return np.column_stack([model.coder_.reconstruction_error(queries, part) for part in parts])


def _example(work: Work, row: int, code: NDArray, residuals: NDArray) -> dict[str, Any]:
    names, split, model = work.dataset.names, work.split, work.model
    assert work.answers.predictions is not None
    strongest = np.argsort(-np.abs(code), kind="stable")[:N_STRONGEST]
    used = strongest[code[strongest] != 0]
    atoms = split.train[model.coder_.dictionary_.index]
    return {
        "query": {
            "label": names[work.dataset.target[split.test[row]]],
            "predicted": names[work.answers.predictions[row]],
            "image": _picture(work.dataset, split.test[row]),
        },
        "atoms": [
            {
                "weight": float(f"{code[atom]:.4g}"),
                "label": names[work.dataset.target[atoms[atom]]],
                "image": _picture(work.dataset, atoms[atom]),
            }
            for atom in used
        ],
        "residuals": {
            names[label]: float(f"{value:.5g}")
            for label, value in zip(model.classes_, residuals, strict=True)
        },
    }


def _atom_images(work: Work) -> dict[str, Any]:
    """For each of some learned atoms, the training sample of largest weight in it."""
    nearest = getattr(encoder_of(work.model), "representatives_", None)
    if nearest is None or work.dataset.pictures is None:
        return {}
    first = work.split.train[np.asarray(nearest)[:N_ATOMS, 0]]
    images = [_picture(work.dataset, index) for index in first]
    return {"atom_images": [image for image in images if image is not None]}


def _picture(dataset: Dataset, index: int) -> str | None:
    return None if dataset.pictures is None else data_uri(dataset.pictures[index])


def _rounded(values: Any) -> list[float]:
    return [float(f"{value:.7g}") for value in values]
