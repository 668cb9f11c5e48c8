"""Small supervised models, what their rules are fitted to, and random codes and labels."""

import numpy as np
from scipy import sparse
from sklearn.base import clone

import kernelcoding as kc
from kernelcoding.classification.rules import RULES, TrainingCodes
from kernelcoding.kernels import Gaussian

CLASSIFIERS = list(RULES)


def supervised(coder=None, **parameters):
    """A small estimator that takes all of its few rounds."""
    coder = kc.KernelSparseCoder(Gaussian(gamma=1.5), alpha=0.05) if coder is None else clone(coder)
    defaults = {"n_atoms": 12, "max_iter": 3, "tol": 0}
    return kc.SupervisedKernelCoding(coder, **{**defaults, **parameters})


def task_driven(coder=None, **parameters):
    """The same, trained for its classifier."""
    return supervised(coder, training="task-driven", **{"max_iter": 4, **parameters})


def rule(name, **parameters):
    """The rule of that name with other than its default parameters."""
    return RULES[name](**parameters)


def training_codes(
    frame, codes, targets, rng, sample_weight=None, eta=0.7, intercept=True, centres=None
):
    """What rules are fitted to; ``centres`` are the codes of landmarks."""
    sample_weight = np.ones(len(targets)) if sample_weight is None else sample_weight
    seed = np.random.RandomState(int(rng.integers(1000)))
    return TrainingCodes(
        frame, codes, targets, sample_weight, eta, intercept, seed, lambda: centres
    )


def covariances(rng, n, p, stretch):
    """Covariance matrices, the first direction stretched."""
    factors = rng.normal(size=(n, p, 4 * p))
    factors[:, 0] *= stretch[:, None]
    return factors @ factors.transpose(0, 2, 1) / (4 * p)


def dense(codes):
    """Codes as an array."""
    return codes.toarray() if sparse.issparse(codes) else np.asarray(codes)


def one_hot(rng, n, n_classes):
    """Targets of ones and zeros, every class present."""
    labels = rng.permutation(np.arange(n) % n_classes)
    return np.eye(n_classes)[labels]


def sparse_codes(rng, n, n_atoms, cover=True, n_nonzero=3):
    """Random codes with few entries per row; covered, every atom is in use."""
    codes = rng.normal(size=(n, n_atoms))
    codes[np.argsort(np.argsort(rng.random(codes.shape), axis=1), axis=1) >= n_nonzero] = 0.0
    if cover:
        codes[np.arange(n_atoms), np.arange(n_atoms)] = 1.0
    return codes
