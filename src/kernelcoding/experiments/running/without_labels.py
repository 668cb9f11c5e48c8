"""The residual rule over what was learned without labels: atoms, or the width of a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from ...classification import ResidualClassifier
from ...coders import BaseKernelCoder
from ...dictionary_learning import KernelDictionaryLearning
from ...kernel_learning import KernelLearning
from ...kernels import as_kernel


class LearnedWithoutLabels(ClassifierMixin, BaseEstimator):
    """A coder that is learned from samples alone; labels enter with the residual rule only."""

    rule_: ResidualClassifier

    def fit(self, X: NDArray, y: NDArray) -> LearnedWithoutLabels:
        """Learn from X, then let the training samples carry their labels."""
        self.rule_ = ResidualClassifier(self._learned(X)).fit(X, y)
        self.classes_ = self.rule_.classes_
        return self

    def predict(self, X: NDArray) -> NDArray:
        """The class of smallest residual."""
        return self.rule_.predict(X)

    def decision_function(self, X: NDArray) -> NDArray:
        """The scores of the residual rule."""
        return self.rule_.decision_function(X)

    def _learned(self, X: NDArray) -> BaseKernelCoder:
        raise NotImplementedError


class UnlabelledAtoms(LearnedWithoutLabels):
    """Atoms whose start does not look at labels either, where `fit` with labels balances classes.

    Parameters
    ----------
    learner : KernelDictionaryLearning
    """

    def __init__(self, learner: KernelDictionaryLearning):
        self.learner = learner

    def _learned(self, X: NDArray) -> BaseKernelCoder:
        learned = clone(self.learner).fit(X)
        return clone(learned.coder).set_params(atoms=learned.dictionary_)


class PaperWidth(LearnedWithoutLabels):
    """The paper's ratio as it is printed: no prior, no labels, no guard but the ends of the range.

    Parameters
    ----------
    coder : coder
        With a kernel whose width is the rule "median".
    decades : float, default=3
        The width is within so many decades of that rule.
    """

    def __init__(self, coder: BaseKernelCoder, decades: float = 3.0):
        self.coder = coder
        self.decades = decades

    def _learned(self, X: NDArray) -> BaseKernelCoder:
        unit = as_kernel(self.coder.kernel).resolve(X).get_params()["gamma"]
        factor = 10.0**self.decades
        ratio = KernelLearning(include_prior=False, bounds=(unit / factor, unit * factor))
        learned = clone(self.coder).set_params(learn_kernel=ratio).fit(np.asarray(X))
        return clone(self.coder).set_params(kernel=learned.kernel_)
