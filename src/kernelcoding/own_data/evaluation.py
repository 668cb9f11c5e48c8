"""How a fitted model does on samples with known labels."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import confusion_matrix, log_loss, precision_recall_fscore_support

from ..classification import ResidualClassifier
from ..model_search import Watch
from ..records import CalibrationBin, ClassScore, EvaluationRecord
from .answers import Answers, answers_of, by_parts
from .examples import examples_of, names_of
from .parts import CodingParts, coding_parts, prepared_by, split_off_last

N_BINS = 10
N_COVERAGES = 40
Z = 1.959963984540054  # of a 95 % interval


def wilson(n_right: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a proportion (Wilson), in percent."""
    if n == 0:
        return 0.0, 100.0
    p, z2 = n_right / n, Z * Z
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * np.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return 100 * max(0.0, centre - half), 100 * min(1.0, centre + half)


def evaluated(
    model: BaseEstimator,
    X: Any,
    y: NDArray,
    about: Mapping[str, Any],
    data: str,
    title: str,
    watch: Watch | None = None,
) -> EvaluationRecord:
    """Judge a model on samples with known labels.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : samples as the model takes them
    y : array
        Their labels.
    about : mapping
        What its file says about it.
    data : str
        What the samples are, the end of a sentence.
    title : str
        Heading of the page.
    watch : callable, default=None
        Told how many steps are done and how many there are.
    """
    start = time.perf_counter()
    before, last = split_off_last(model)
    pieces = by_parts(X, lambda samples: prepared_by(before, samples), watch)
    prepared = pieces[0] if len(pieces) == 1 else np.concatenate(list(map(np.asarray, pieces)))
    answers = answers_of(last, prepared, about, watch)
    seconds = time.perf_counter() - start
    if answers.labels.ndim != 1 or y.ndim != 1:
        raise ValueError("Evaluation needs one label per sample.")
    truth, given = np.array(list(map(str, y))), np.array(list(map(str, answers.labels)))
    known = [] if answers.classes is None else list(map(str, answers.classes))
    parts = coding_parts(model)
    return EvaluationRecord(
        title=title,
        model=type(last).__name__,
        data=data,
        **_recognition(truth, given, known),
        calibration=_calibration(answers, truth == given),
        log_loss=_log_loss(answers, truth, known),
        coverage=_coverage(answers.certainty, truth == given),
        certainty="concentration" if isinstance(last, ResidualClassifier) else "probability",
        examples=examples_of(last, prepared, names_of(X), truth, answers),
        learned=tuple(_learned(last, parts, about)),
        seconds=seconds,
        megabytes=_megabytes(model),
        notes=_notes(truth, known),
    )


def _recognition(truth: NDArray, given: NDArray, known: list[str]) -> dict[str, Any]:
    """How many labels are right, on the whole and class by class."""
    classes = known + sorted(set(truth.tolist()) - set(known))
    n_right, n = int(np.sum(truth == given)), len(truth)
    low, high = wilson(n_right, n)
    counts = confusion_matrix(truth, given, labels=classes)
    return {
        "n_samples": n,
        "accuracy": 100 * n_right / n,
        "low": low,
        "high": high,
        "majority": 100 * float(np.unique(truth, return_counts=True)[1].max()) / n,
        "classes": tuple(classes),
        "confusion": tuple(tuple(row) for row in counts.tolist()),
        "scores": _class_scores(truth, given, classes),
    }


def _notes(truth: NDArray, known: list[str]) -> tuple[str, ...]:
    strange = sorted(set(truth.tolist()) - set(known))
    if not strange or not known:
        return ()
    return (f"The model does not know the labels {', '.join(map(repr, strange[:8]))}.",)


def _class_scores(truth: NDArray, given: NDArray, classes: list[str]) -> tuple[ClassScore, ...]:
    table = precision_recall_fscore_support(truth, given, labels=classes, zero_division=np.nan)
    found = []
    for name, precision, recall, f1, count in zip(classes, *table, strict=True):
        parts = [100 * float(x) if np.isfinite(x) else None for x in (precision, recall, f1)]
        found.append(ClassScore(name, parts[0], parts[1], parts[2] or 0.0, int(count)))
    return tuple(found)


def _calibration(answers: Answers, right: NDArray) -> tuple[CalibrationBin, ...]:
    """Bins of as many samples each."""
    if answers.probabilities is None:
        return ()
    confidence = answers.probabilities.max(axis=1)
    order = np.argsort(confidence, kind="stable")
    found = []
    for rows in np.array_split(order, min(N_BINS, max(1, len(order) // 10))):
        n_right = int(right[rows].sum())
        share = 100 * n_right / len(rows)
        mean = 100 * float(confidence[rows].mean())
        found.append(CalibrationBin(mean, share, *wilson(n_right, len(rows)), len(rows)))
    return tuple(found)


def _log_loss(answers: Answers, truth: NDArray, known: list[str]) -> float | None:
    if answers.probabilities is None or not set(truth) <= set(known) or len(known) < 2:
        return None
    columns = np.argsort(known, kind="stable")  # scikit-learn wants names in order
    names = [known[i] for i in columns]
    return float(log_loss(truth, answers.probabilities[:, columns], labels=names))


def _coverage(sure: NDArray | None, right: NDArray) -> tuple[tuple[float, float], ...]:
    """Part of right labels among the samples that the model is surest of."""
    if sure is None or len(right) < 2:
        return ()
    order = np.argsort(-sure, kind="stable")
    shares = np.cumsum(right[order]) / np.arange(1, len(right) + 1)
    sizes = np.unique(
        np.linspace(max(1, len(right) // N_COVERAGES), len(right), N_COVERAGES, dtype=int)
    )
    return tuple((100 * size / len(right), 100 * float(shares[size - 1])) for size in sizes)


def _learned(
    last: BaseEstimator, parts: CodingParts | None, about: Mapping[str, Any]
) -> list[tuple[str, str]]:
    found = [("Model", type(last).__name__)]
    coder = None if parts is None else parts.coder
    kernel = getattr(coder, "kernel_", None)
    if kernel is not None:
        found.append(("Kernel", repr(kernel)))
        weights = getattr(kernel, "weights_", None)
        if weights is not None:
            found.append(("Weights", ", ".join(f"{w:.3g}" for w in np.ravel(weights))))
    dictionary = getattr(coder, "dictionary_", None)
    if dictionary is not None:
        found.append(("Atoms", str(dictionary.n_atoms)))
    if coder is not None:
        told = coder.get_params(deep=False)
        settings = ("alpha", "n_neighbors", "sigma", "n_landmarks", "max_iter")
        found += [(name, str(told[name])) for name in settings if told.get(name) is not None]
    for name in ("created", "samples", "certificate"):
        if name in about:
            found.append((name, str(about[name])))
    return found


def _megabytes(model: BaseEstimator) -> float:
    """Bytes of all arrays that a model file would hold."""
    from ..persistence.writing import Writer

    writer = Writer()
    writer.describe(model, "model")
    return sum(array.nbytes for array in writer.arrays.values()) / 1e6
