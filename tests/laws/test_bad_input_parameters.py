"""Parameters that make no sense: an error at fit that names the parameter."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import kernelcoding as kc
from helpers.names import stable
from kernelcoding import constraints, priors
from kernelcoding.dictionary import PointDictionary
from kernelcoding.kernels import Gaussian, Linear, View


@pytest.fixture
def samples(rng):
    return rng.normal(size=(12, 3))


@pytest.mark.parametrize("alpha", [0, -1.0, np.nan, np.inf, "small", None, True])
@pytest.mark.parametrize(
    "coder",
    [
        kc.KernelSparseCoder(),
        kc.KernelLLC(n_neighbors=None),
        kc.KernelLCC(),
        kc.KernelCoder(),
    ],
    ids=stable,
)
def test_alpha_must_be_positive(coder, alpha, samples):
    with pytest.raises(ValueError, match="alpha must be a positive number"):
        clone(coder).set_params(alpha=alpha).fit(samples)


@pytest.mark.parametrize(
    ("coder", "message"),
    [
        (kc.KernelSparseCoder(tol=0.0), "tol must be a positive number"),
        (kc.KernelSparseCoder(max_iter=0), "max_iter must be an integer"),
        (kc.KernelLCC(max_iter=1.5), "max_iter must be an integer"),
        (kc.KernelCoder(max_iter=True), "max_iter must be an integer"),
        (kc.KernelBagOfWords(sigma=-1), "sigma must be a positive number"),
        (kc.KernelBagOfWords(assignment="fuzzy"), 'assignment must be "soft" or "hard"'),
        (kc.KernelBagOfWords(n_neighbors=0), "n_neighbors must be an integer of at least 1"),
        (kc.KernelLLC(n_neighbors=2.5), "n_neighbors must be an integer of at least 1"),
        (kc.KernelLLC(n_neighbors=None, sigma=0), "sigma must be a positive number"),
        (kc.KernelLLC(regularization=-1e-4), "regularization must be a positive number"),
        (kc.KernelMatchingPursuit(n_nonzero=0), "n_nonzero must be an integer of at least 1"),
        (kc.KernelMatchingPursuit(selection="lars"), 'selection must be "omp" or "ols"'),
        (kc.KernelSparseCoder(kernel="rbff"), "unknown kernel name 'rbff'; the names are"),
        (kc.KernelSparseCoder(kernel=None), "kernel must be a name, a kernel or a function"),
        (kc.KernelSparseCoder(kernel=Gaussian), "kernel must be a name, a kernel or a function"),
        (kc.KernelSparseCoder(kernel=Gaussian(gamma=-1.0)), "gamma must be a positive"),
        (kc.KernelSparseCoder(kernel=Gaussian(gamma="auto")), "gamma must be a positive number"),
        (kc.KernelSparseCoder(atoms=3, init="lloyd"), "init must be one of"),
        (kc.KernelSparseCoder(atoms=0), "atoms=0 must be at least 1"),
        (kc.KernelSparseCoder(atoms=13), "at most the number of training samples, n_samples=12"),
        (kc.KernelSparseCoder(atoms=5.0), "atoms must be None, an integer, an array"),
        (kc.KernelSparseCoder(atoms=True), "atoms must be None, an integer, an array"),
        (kc.KernelSparseCoder(atoms="all"), "atoms must be None, an integer, an array"),
        (kc.KernelSparseCoder(atoms=np.ones((2, 5))), "atoms have shape"),
        (kc.KernelSparseCoder(atoms=np.ones(3)), "atoms: Gaussian expected samples of shape"),
        (kc.KernelSparseCoder(atoms=np.empty((0, 3))), "atoms must hold at least one point"),
        (kc.KernelSparseCoder(atoms=np.full((2, 3), np.nan)), "atoms: .* NaN"),
        (
            kc.KernelSparseCoder(atoms=PointDictionary(Linear(), np.ones((2, 5)))),
            "atoms is a dictionary that the samples do not fit",
        ),
        (kc.KernelSparseCoder(groups="labels"), 'groups must be an array of labels or "y"'),
        (kc.KernelSparseCoder(groups=[0, 1]), "groups must give one label to each atom"),
        (kc.KernelSparseCoder(groups="y"), "requires y"),
        (kc.KernelSparseCoder(kernel=View(["a"], Linear())), "columns .* are names"),
        (kc.KernelCoder(prior="l1"), "prior must be one of kernelcoding.priors"),
        (kc.KernelCoder(prior=priors.L1), "prior"),
        (kc.KernelCoder(constraint="simplex"), "constraint must be one of"),
        (kc.KernelCoder(constraint=constraints.Simplex), "constraint must be one of"),
        (
            kc.KernelCoder(prior=priors.L1(), constraint=constraints.AtMost(3)),
            r"Use prior=NoPrior\(\) with AtMost",
        ),
        (kc.KernelCoder(prior=priors.WeightedL1([1.0, 2.0])), "weights must have one entry"),
        (kc.KernelCoder(prior=priors.WeightedL1(-np.ones(12))), "weights must be finite and non-"),
        (kc.KernelCoder(prior=priors.GroupL1([1, 2])), "groups must give one label to each atom"),
        (kc.KernelCoder(prior=priors.ElasticNet(l1_ratio=2.0)), "l1_ratio must lie in"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_parameters_are_refused_at_fit_by_name(coder, message, samples):
    with pytest.raises(ValueError, match=message):
        coder.fit(samples)


@pytest.mark.parametrize("prior", [priors.L1, 3, object()], ids=["class", "number", "object"])
def test_priors_are_checked_at_fit_for_every_constraint(prior, samples):
    with pytest.raises(ValueError, match="prior must be"):
        kc.KernelCoder(prior=prior, constraint=constraints.Free()).fit(samples)


def test_labels_for_groups_must_match_the_samples(samples):
    coder = kc.KernelSparseCoder(groups="y")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        coder.fit(samples, np.arange(5))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        coder.fit(samples, np.arange(50))
    means = kc.KernelSparseCoder(groups="y", atoms=3, init="kernel-k-means")
    with pytest.raises(ValueError, match="atoms that are training samples"):
        means.fit(samples, np.arange(12))


def test_labels_unseen_or_odd_change_nothing(samples):
    codes = kc.KernelSparseCoder().fit(samples).transform(samples)
    for y in (["a"] * 12, np.full(12, np.nan), [None] * 12, np.arange(5)):
        assert_array_equal(kc.KernelSparseCoder().fit(samples, y).transform(samples), codes)
