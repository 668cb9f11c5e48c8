"""Samples to look at: wrong ones that a model was sure of, and typical ones, with their codes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..classification import ResidualClassifier
from ..codes import dense
from ..records import Example, ExampleAtom
from .answers import Answers

N_EXAMPLES = 4  # of typical samples, and of wrong ones
N_STRONGEST = 6  # atoms of a sample


def examples_of(
    last: BaseEstimator, prepared: Any, names: Sequence[str], truth: NDArray, answers: Answers
) -> tuple[Example, ...]:
    """Wrong samples that the model was surest of, then right ones from the surest to the least.

    Parameters
    ----------
    last : estimator
        What names samples.
    prepared : array
        Samples as it takes them.
    names : sequence of str
        What they are called.
    truth : array of str
    answers : Answers
        What the model says of them.
    """
    if answers.certainty is None or answers.classes is None:
        return ()
    given = np.array(list(map(str, answers.labels)))
    order = np.argsort(-answers.certainty, kind="stable")
    wrong, fine = order[truth[order] != given[order]], order[truth[order] == given[order]]
    typical = fine[:: max(1, len(fine) // N_EXAMPLES)][:N_EXAMPLES]
    shown = np.concatenate([wrong[:N_EXAMPLES], typical]).astype(int)
    classes = list(map(str, answers.classes))
    samples = np.asarray(prepared)[shown]
    atoms = _strongest_atoms(last, samples, classes)
    norms = _squared_norms(last, samples)
    return tuple(
        Example(
            str(truth[row]), str(given[row]), None, some, name=names[row],
            **_by_class(last, answers, classes, int(row), float(norm)),
        )
        for row, some, norm in zip(shown, atoms, norms, strict=True)
    )  # fmt: skip


def names_of(X: Any) -> list[str]:
    """What samples are called: pictures by their files, others by their rows."""
    if not isinstance(X, list):
        return [f"row {row}" for row in range(1, len(X) + 1)]
    return [Path(str(getattr(picture, "image", picture))).name for picture in X]


def _strongest_atoms(
    last: BaseEstimator, samples: NDArray, classes: list[str]
) -> list[tuple[ExampleAtom, ...]]:
    """Atoms with the largest weights in the codes of samples; none where a model has no codes."""
    coder = getattr(last, "coder_", last) if isinstance(last, ResidualClassifier) else last
    if not hasattr(coder, "transform") or not len(samples):
        return [()] * len(samples)
    owners = getattr(last, "atom_classes_", None)
    found = []
    for code in dense(coder.transform(samples)):
        strongest = np.argsort(-np.abs(code), kind="stable")[:N_STRONGEST]
        found.append(
            tuple(
                ExampleAtom(
                    float(f"{code[atom]:.4g}"),
                    f"{'' if owners is None else f'{classes[owners[atom]]}, '}atom {atom + 1}",
                    None,
                )
                for atom in strongest
                if code[atom] != 0
            )
        )
    return found


def _squared_norms(last: BaseEstimator, samples: NDArray) -> NDArray:
    """``k(x, x)`` of samples, which the scores of the residual rule leave out; else zeros."""
    if not isinstance(last, ResidualClassifier) or not len(samples):
        return np.zeros(len(samples))
    queries = last.coder_._validate_query(samples)
    return last.coder_.dictionary_.similarities(queries)[0]


def _by_class(
    last: BaseEstimator, answers: Answers, classes: list[str], row: int, squared_norm: float
) -> dict[str, tuple[tuple[str, float], ...]]:
    """Residuals of the residual rule; of other models probabilities."""
    scores = answers.scores if isinstance(last, ResidualClassifier) else None
    if scores is not None and scores.ndim == 2:
        residuals = (float(f"{squared_norm - score:.5g}") for score in scores[row])
        return {"residuals": tuple(zip(classes, residuals, strict=True))}
    if answers.probabilities is None:
        return {}
    shares = (float(f"{share:.4g}") for share in answers.probabilities[row])
    return {"probabilities": tuple(zip(classes, shares, strict=True))}
