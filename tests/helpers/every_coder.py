"""One coder of every kind, for tests of what all of them promise."""

import pytest

import kernelcoding as kc
from kernelcoding import constraints, priors

CODERS = {
    "sparse": kc.KernelSparseCoder(),
    "positive": kc.KernelSparseCoder(positive=True),
    "CSR": kc.KernelSparseCoder(sparse_output=True),
    "groups": kc.KernelSparseCoder(groups="y"),
    "candidates": kc.KernelSparseCoder(n_candidates=2),
    "soft": kc.KernelBagOfWords(),
    "hard": kc.KernelBagOfWords(assignment="hard"),
    "local soft": kc.KernelBagOfWords(n_neighbors=1),
    "LLC": kc.KernelLLC(n_neighbors=1),
    "LLC of two": kc.KernelLLC(n_neighbors=2),
    "LLC without ridge": kc.KernelLLC(n_neighbors=2, regularization=0.0),
    "exact LLC": kc.KernelLLC(n_neighbors=None),
    "LCC": kc.KernelLCC(),
    "omp": kc.KernelMatchingPursuit(),
    "ols": kc.KernelMatchingPursuit(selection="ols"),
    "simplex": kc.KernelCoder(),
    "least squares": kc.KernelCoder(prior=priors.NoPrior(), constraint=constraints.Free()),
    "affine": kc.KernelCoder(prior=priors.NoPrior(), constraint=constraints.SumToOne()),
    "ridge": kc.KernelCoder(prior=priors.Ridge(), constraint=constraints.NonNegative()),
}
EVERY_CODER = pytest.mark.parametrize("coder", CODERS.values(), ids=CODERS.keys())
