"""Samples judged by what atoms leave unexplained of them.

``classifier`` elects the class of smallest residual. ``class_residuals`` is its rule,
``carried_labels`` says whose labels the rule reads, and ``calibration`` turns residuals into
probabilities. ``outliers`` finds samples that no atom explains.
"""

from .classifier import ResidualClassifier
from .outliers import KernelOutlierDetector

__all__ = ["KernelOutlierDetector", "ResidualClassifier"]
