"""Classifiers of codes that can be learned with a dictionary: one table of names."""

from __future__ import annotations

from sklearn.base import clone

from .base import Rule, TrainingCodes
from .bilinear import BilinearRule
from .linear import LinearRule, LogisticRule, MaxMarginRule

RULES: dict[str, type[Rule]] = {
    "linear": LinearRule,
    "bilinear": BilinearRule,
    "max-margin": MaxMarginRule,
    "logistic": LogisticRule,
}


def as_rule(classifier: str | Rule, rho: float | str | None = None) -> Rule:
    """The rule that a name or an object stands for, with ``rho`` where it is given apart.

    Parameters
    ----------
    classifier : str or Rule
    rho : float, "auto" or None
        None: the rule's own.
    """
    if isinstance(classifier, str) and classifier in RULES:
        rule = RULES[classifier]()
    elif isinstance(classifier, Rule):
        rule = clone(classifier)
    else:
        raise ValueError(
            f"classifier must be one of {sorted(RULES)} or a rule of kernelcoding.classification, "
            f"got {classifier!r}."
        )
    if rho is not None:
        if rule.rho not in ("auto", rho):
            raise ValueError(
                f"rho is given twice: rho={rho!r} and classifier={classifier!r}. Give it once."
            )
        rule.rho = rho
    rule.check()
    return rule


__all__ = [
    "RULES",
    "BilinearRule",
    "LinearRule",
    "LogisticRule",
    "MaxMarginRule",
    "Rule",
    "TrainingCodes",
    "as_rule",
]
