"""The base of every pluggable part: parameters in ``__init__`` and nowhere else."""

from __future__ import annotations

from sklearn.base import BaseEstimator


class Component(BaseEstimator):
    """A part (kernel, prior, constraint) that scikit-learn can clone, print and tune."""
