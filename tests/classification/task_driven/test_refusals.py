"""Task-driven training: what is refused, and why."""

import numpy as np
import pytest

import kernelcoding as kc
from helpers.learning import digits
from helpers.supervised import supervised
from kernelcoding import constraints, priors


@pytest.fixture(scope="module")
def data():
    return digits(120, labels=True)


def test_an_unknown_training_is_refused(data):
    with pytest.raises(ValueError, match="training must be 'joint' or 'task-driven', got 'best'"):
        supervised(training="best").fit(*data)


class Own:
    """A prior of a user: the l1 norm."""

    def value(self, codes):
        return np.abs(codes).sum(axis=1)

    def prox(self, points, scale):
        return np.sign(points) * np.maximum(np.abs(points) - scale, 0.0)


@pytest.mark.parametrize(
    ("coder", "why"),
    [
        (kc.KernelSparseCoder(groups=np.arange(12) % 3), "priors with groups are not implemented"),
        (
            kc.KernelCoder(prior=priors.L1(), constraint=constraints.OneAtom()),
            "constraint OneAtom jump from atoms to atoms",
        ),
        (kc.KernelBagOfWords(assignment="hard"), "constraint OneAtom jump"),
        (kc.KernelCoder(prior=Own()), "a prior of your own tells its value and proximal map"),
    ],
)
def test_codes_without_a_derivative_are_refused(coder, why, data):
    with pytest.raises(ValueError, match=rf"no derivative here: .*{why}.*or training='joint'"):
        supervised(coder, training="task-driven").fit(*data)


@pytest.mark.parametrize(
    "coder",
    [
        kc.KernelBagOfWords(assignment="soft"),
        kc.KernelMatchingPursuit(n_nonzero=3),
        kc.KernelCoder(prior=priors.NoPrior(), constraint=constraints.AtMost(3)),
    ],
)
def test_codes_that_minimise_nothing_are_refused(coder, data):
    with pytest.raises(ValueError, match="does not minimise an objective"):
        supervised(coder, training="task-driven").fit(*data)
