"""How a model does on samples with known labels, as plain numbers and words for a page."""

from __future__ import annotations

from dataclasses import dataclass

from .schema import Example


@dataclass(frozen=True, slots=True)
class ClassScore:
    """How one class is recognised, in percent."""

    name: str
    precision: float | None  # None where nothing was called so
    recall: float | None
    f1: float
    count: int  # samples of the class


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Samples of about the same largest probability, in percent."""

    confidence: float
    right: float
    low: float  # 95 % interval of the part that is right
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class EvaluationRecord:
    """An evaluation; parts that a model cannot give are empty.

    Attributes
    ----------
    title, model, data : str
        Headings, and what was done on what.
    n_samples : int
    accuracy, low, high, majority : float
        Percent: right labels with a 95 % interval, and the part of the largest class.
    classes : tuple of str
    confusion : tuple of tuples
        Counts, rows are the truth.
    scores : tuple of ClassScore
    calibration : tuple of CalibrationBin
    log_loss : float or None
    coverage : tuple of pairs
        Percent of samples that are kept, those the model is surest of, and of right labels there.
    certainty : str
        By which samples are kept.
    examples : tuple of Example
    learned : tuple of pairs
        What the model is made of: kernel, widths, weights, atoms.
    seconds : float
        That all answers took.
    megabytes : float
        That the arrays of the model take.
    notes : tuple of str
    """

    title: str
    model: str
    data: str
    n_samples: int
    accuracy: float
    low: float
    high: float
    majority: float
    classes: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    scores: tuple[ClassScore, ...]
    calibration: tuple[CalibrationBin, ...] = ()
    log_loss: float | None = None
    coverage: tuple[tuple[float, float], ...] = ()
    certainty: str = ""
    examples: tuple[Example, ...] = ()
    learned: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    megabytes: float | None = None
    notes: tuple[str, ...] = ()
