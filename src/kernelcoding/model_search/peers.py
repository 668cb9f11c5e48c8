"""What a model has to beat: the largest class, logistic regression, and a support vector machine.

Samples of several dimensions (matrices) are vectors to them.
"""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.base import ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

MAJORITY, SUPPORT_VECTORS = "majority vote", "SVC"


def peers(class_weight: str | None, seed: int) -> Iterator[tuple[str, ClassifierMixin]]:
    """Names and models, not fitted.

    Parameters
    ----------
    class_weight : str or None
    seed : int
    """
    yield MAJORITY, DummyClassifier(strategy="most_frequent")
    yield (
        "logistic regression",
        LogisticRegression(class_weight=class_weight, max_iter=500, random_state=seed),
    )
    yield SUPPORT_VECTORS, SVC(class_weight=class_weight, random_state=seed)
