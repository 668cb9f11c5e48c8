"""The last classifier: fitted to codes that look at no labels, and calibrated."""

from __future__ import annotations

from typing import NamedTuple, cast

from ..codes import dense
from ..dictionary_learning.state import Candidate
from ..selection import counting_rows
from ..solvers.result import Convergence
from .calibration import Calibration
from .classifiers import Classifier
from .far.learner import FarLearner
from .joint.learner import SupervisedLearner
from .labels import Labels
from .losses.ridge import NOTHING
from .rules import Rule
from .rules.multinomial import MultinomialRule, last_rule, scale_of


class Last(NamedTuple):
    """What learning leaves behind beside the dictionary."""

    classifier: Classifier
    calibration: Calibration
    convergence: Convergence  # of the codes that it was fitted to


def last_classifier(
    learner: SupervisedLearner, best: Candidate, rule: Rule, labels: Labels
) -> Last:
    """The classifier that predicts, and how its scores become probabilities.

    Parameters
    ----------
    learner : SupervisedLearner
        After the last round.
    best : Candidate
        Atoms and classifier that were learned together.
    rule : Rule
        As the user has given it.
    labels : Labels
        Of the training samples.
    """
    if isinstance(learner, FarLearner):
        return _of_far_samples(learner, best, rule)
    assert learner.rho is not None
    coded = learner.plain_codes(best.vectors)
    data = learner.training_codes(coded.codes, best.vectors)
    rho, last, classifier = learner.rho, learner.rule, cast(Classifier, best.classifier)
    if rule.refit:
        last = last_rule(last, labels)
        if rule.rho == "auto":
            rho = last.choose_rho(data)
        elif isinstance(last, MultinomialRule) and last is not learner.rule:
            scale = scale_of(dense(coded.codes), data.sample_weight)
            rho = last.of_joint(rho, data.eta, scale)
        classifier, scores = last.fit_with_left_out(data, rho)
    else:
        scores = last.left_out(data, rho)
    rows = counting_rows(len(scores), data.sample_weight, above=NOTHING)
    return Last(classifier, Calibration(labels.take(rows), scores[rows]), coded.convergence)


def _of_far_samples(learner: FarLearner, best: Candidate, rule: Rule) -> Last:
    """One more pass over samples that are far away; choices are judged on those drawn."""
    assert learner.rho is not None
    assert learner.eta is not None
    seen = learner.plain(best.vectors)
    few = learner.few(best.vectors)
    data = few.training_codes(few.plain_codes(best.vectors).codes, best.vectors)
    rho, last, classifier = learner.rho, learner.rule, cast(Classifier, best.classifier)
    if rule.refit:
        last = last_rule(last, few.wanted.labels)
        if rule.rho == "auto":
            rho = last.choose_rho(data)
        elif isinstance(last, MultinomialRule) and seen.codes is not None:
            rho = last.of_joint(rho, learner.eta, seen.codes.scale)
        if isinstance(last, MultinomialRule) and seen.codes is not None:
            classifier = seen.codes.multinomial(rho, last.fit_intercept)
        else:
            classifier = learner.best_of(seen, rho)
    left_out = last.left_out(data, rho)
    return Last(classifier, Calibration(few.wanted.labels, left_out), seen.coded.convergence)
