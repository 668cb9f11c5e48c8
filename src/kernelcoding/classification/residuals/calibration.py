"""Probabilities from residuals: a temperature from training samples that do not explain themselves.

A training sample that is an atom would be its own explanation, and every class would look certain.
Samples are therefore coded in folds, without the atoms that they are; where the landmarks of
learned atoms carry the labels, the sample's own weight is left out when its code is read.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ...coders.coding import code_samples
from ...codes import Codes
from ...dictionary import PointDictionary
from ...formulations import Formulation
from ...solvers.result import Options
from ..calibration import temperature
from .class_residuals import ClassResiduals

MOST = 200  # samples that are coded to find the temperature
N_FOLDS = 5
SAME_POINT = 1e-10  # part of k(x, x) below which a squared distance is rounding


class ResidualCalibration:
    """What is kept of training samples to find a temperature when it is first asked for.

    Parameters
    ----------
    samples : array of shape (m, ...)
        Some training samples.
    numbers : array of shape (m,)
        Their classes.
    carriers : array of shape (m,), or None
        Which atom or landmark each of them is, -1 for none; None where that is not known.
    """

    def __init__(self, samples: NDArray, numbers: NDArray, carriers: NDArray | None):
        self.samples = samples
        self.numbers = numbers
        self.carriers = carriers
        self.temperature: float | None = None

    @classmethod
    def of(
        cls, X: NDArray, numbers: NDArray, index: NDArray | None, n_classes: int
    ) -> ResidualCalibration:
        """A balanced choice of training samples; ``index`` says which the carriers are."""
        rows = np.arange(len(X))
        if len(X) > max(MOST, n_classes):
            from sklearn.model_selection import train_test_split

            counts = np.bincount(numbers, minlength=n_classes)
            fair = counts.min() > 1 and n_classes <= min(MOST, len(X) - MOST)
            balanced = numbers if fair else None
            rows = train_test_split(rows, train_size=MOST, stratify=balanced, random_state=0)[0]
        if index is None:
            return cls(X[rows], numbers[rows], None)
        carriers = np.full(len(X), -1)
        carriers[index] = np.arange(len(index))
        return cls(X[rows], numbers[rows], carriers[rows])

    def probabilities(
        self, residuals: NDArray, rule: ClassResiduals, coding: tuple[Formulation, Options]
    ) -> NDArray:
        """Probabilities of the classes, (n, S)."""
        if self.temperature is None:
            with warnings.catch_warnings():  # codes of training samples: nobody asked for them
                warnings.simplefilter("ignore")
                self.temperature = self._temperature(rule, coding)
        return softmax(-self.temperature * residuals, axis=1)

    def _temperature(self, rule: ClassResiduals, coding: tuple[Formulation, Options]) -> float:
        residuals = self.residuals_left_out(rule, coding)
        own = residuals[np.arange(len(residuals)), self.numbers]
        usable = np.isfinite(own)
        if rule.n_classes < 2 or not usable.any():
            return 1.0
        members = self.numbers[usable, None] == np.arange(rule.n_classes)
        finite = np.where(np.isfinite(residuals), residuals, residuals[usable].max(initial=0.0))
        return temperature(-finite[usable], members, smoothing=True)

    def residuals_left_out(
        self, rule: ClassResiduals, coding: tuple[Formulation, Options]
    ) -> NDArray:
        """Residuals of the kept samples, none of which explains itself, (m, S); NaN: unusable."""
        if rule.of_landmarks and self.carriers is not None:
            return self._own_weight_left_out(rule, coding)
        if self.carriers is not None and isinstance(rule.dictionary, PointDictionary):
            return self._own_atoms_left_out(rule, rule.dictionary, coding)
        found = _read(rule, coding, self.samples)
        if not rule.of_landmarks:  # atoms of unknown origin: copies of samples explain them
            problem = rule.dictionary.problem(self.samples)
            distances = problem.single_atom_errors().min(axis=1)
            found[distances <= SAME_POINT * problem.self_similarity] = np.nan
        return found

    def _own_weight_left_out(
        self, rule: ClassResiduals, coding: tuple[Formulation, Options]
    ) -> NDArray:
        assert self.carriers is not None
        found = np.empty((len(self.samples), rule.n_classes))
        inside = self.carriers >= 0
        for rows, carriers in ((inside, self.carriers[inside]), (~inside, None)):
            if rows.any():
                found[rows] = _read(rule, coding, self.samples[rows], carriers)
        return found

    def _own_atoms_left_out(
        self,
        rule: ClassResiduals,
        dictionary: PointDictionary,
        coding: tuple[Formulation, Options],
    ) -> NDArray:
        assert self.carriers is not None
        found = np.full((len(self.samples), rule.n_classes), np.nan)
        formulation, options = coding
        folds = np.arange(len(self.samples)) % N_FOLDS
        for fold in range(min(N_FOLDS, len(folds))):
            rows = folds == fold
            kept = np.setdiff1d(np.arange(dictionary.n_atoms), self.carriers[rows])
            if kept.size == 0:
                continue
            assert dictionary.index is not None
            part = PointDictionary(
                dictionary.kernel, dictionary.points[kept], dictionary.index[kept]
            )
            without = ClassResiduals(part, rule.classes[kept], rule.n_classes, False)
            coding = formulation.for_atoms(kept), options
            found[rows] = _read(without, coding, self.samples[rows])
        return found


def _read(
    rule: ClassResiduals,
    coding: tuple[Formulation, Options],
    X: NDArray,
    without: NDArray | None = None,
) -> NDArray:
    codes: Codes = code_samples(*coding, rule.dictionary, X, tell_zeros=False)
    found, silent = rule.vote(X, codes, without)
    if without is not None:
        found[silent] = np.nan  # the nearest carrier may be the sample itself
    return found
