"""Bad input: an error that names what is wrong, or a documented answer. Never NaN codes."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import kernelcoding as kc
from kernelcoding import constraints, priors
from kernelcoding.dictionary import PointDictionary
from kernelcoding.kernels import Gaussian, Linear, Normalized, Polynomial, Sigmoid, View

CODERS = {
    "sparse": kc.KernelSparseCoder(),
    "positive": kc.KernelSparseCoder(positive=True),
    "CSR": kc.KernelSparseCoder(sparse_output=True),
    "groups": kc.KernelSparseCoder(groups="y"),
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
BOTH_KERNELS = pytest.mark.parametrize("kernel", ["linear", "rbf"])


@pytest.fixture
def samples(rng):
    return rng.normal(size=(12, 3))


def covariances(rng, n=8):
    factors = rng.normal(size=(n, 3, 6))
    return factors @ factors.transpose(0, 2, 1)


def codes_of(coder, X, Q, allowed_warning=None):
    """Codes after checking what is promised of every code, whatever came in."""
    with warnings.catch_warnings():
        if allowed_warning:
            warnings.filterwarnings("ignore", message=allowed_warning)
        coder.fit(X, np.arange(len(X)) % 2)
    codes = coder.transform(Q)
    errors = coder.reconstruction_error(Q, codes)
    codes = codes.toarray() if sparse.issparse(codes) else codes
    assert codes.shape == (len(Q), len(X) if coder.atoms is None else coder.dictionary_.n_atoms)
    assert np.isfinite(codes).all()
    assert np.isfinite(errors).all()
    assert errors.min() >= 0
    if not isinstance(coder, kc.KernelMatchingPursuit):
        constraint = coder.formulation().constraint
        if constraint.sum_to_one:
            assert_allclose(codes.sum(axis=1), 1.0, atol=1e-6)
        if constraint.nonnegative:
            assert codes.min() >= -1e-12
    return codes


# Data that are hard, not wrong ----------------------------------------------------------------


@EVERY_CODER
@BOTH_KERNELS
def test_duplicate_atoms(coder, kernel, samples):
    X = np.vstack([samples, samples, samples[:3]])
    Q = samples + 0.1
    # A fixed width: the median distance changes with copies.
    coder = clone(coder).set_params(kernel="linear" if kernel == "linear" else Gaussian(gamma=0.3))
    codes_of(coder, X, Q)
    doubled = coder.reconstruction_error(Q).mean()
    single = clone(coder).fit(samples, np.arange(12) % 2).reconstruction_error(Q).mean()
    if isinstance(coder, kc.KernelSparseCoder) and coder.groups is None:
        assert doubled == pytest.approx(single, rel=1e-5)  # copies add nothing to explain with


@EVERY_CODER
@BOTH_KERNELS
def test_identical_samples(coder, kernel, samples):
    codes_of(clone(coder).set_params(kernel=kernel), np.ones((6, 3)), samples)


@EVERY_CODER
@BOTH_KERNELS
def test_a_query_equal_to_an_atom(coder, kernel, samples):
    codes_of(clone(coder).set_params(kernel=kernel), samples, samples)


@pytest.mark.parametrize(
    "name", ["hard", "local soft", "LLC", "LLC of two", "LLC without ridge", "omp", "ols"]
)
@BOTH_KERNELS
def test_an_atom_explains_itself(name, kernel, samples):
    coder = clone(CODERS[name]).set_params(kernel=kernel)
    codes = codes_of(coder, samples, samples)
    assert_allclose(codes, np.eye(len(samples)), atol=2e-3 if name == "LLC of two" else 1e-6)


@EVERY_CODER
@BOTH_KERNELS
def test_zero_vectors(coder, kernel, samples):
    coder = clone(coder).set_params(kernel=kernel)
    with_zeros = np.vstack([samples, np.zeros((2, 3))])
    codes_of(coder, samples, np.zeros((3, 3)))
    codes_of(coder, with_zeros, with_zeros)
    codes_of(coder, np.zeros((4, 3)), samples)


@EVERY_CODER
def test_zero_vectors_have_no_direction(coder, samples):
    coder = clone(coder).set_params(kernel=Normalized(Linear()))
    codes_of(coder, np.vstack([samples, np.zeros((1, 3))]), np.zeros((2, 3)))


@EVERY_CODER
@BOTH_KERNELS
def test_a_single_sample(coder, kernel, samples):
    coder = clone(coder).set_params(kernel=kernel)
    codes = codes_of(coder, samples[:1], samples, allowed_warning="n_neighbors=2 exceeds")
    if coder.formulation().constraint.sum_to_one:
        assert_allclose(codes, 1.0)


@EVERY_CODER
def test_scales_far_from_one(coder, samples):
    for scale in (1e-6, 1e6):
        codes_of(clone(coder).set_params(kernel="rbf"), scale * samples, scale * samples[:4] + 1)
    codes_of(clone(coder).set_params(kernel="linear"), 1e3 * samples, 1e3 * samples[:4] + 1)


@EVERY_CODER
def test_a_query_far_from_everything(coder, samples):
    codes = codes_of(clone(coder).set_params(kernel="rbf"), samples, np.full((2, 3), 1e6))
    if isinstance(coder, (kc.KernelSparseCoder, kc.KernelMatchingPursuit)):
        assert_array_equal(codes, 0.0)  # it resembles no atom


@EVERY_CODER
def test_indefinite_kernels_warn_once_and_give_finite_codes(coder, rng):
    X, Q = rng.normal(size=(15, 3)), rng.normal(size=(8, 3))
    coder = clone(coder).set_params(kernel=Sigmoid(gamma=1.0, coef0=-1.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        coder.fit(X, np.arange(15) % 2)
    assert [w.category for w in caught] == [UserWarning]
    assert "indefinite" in str(caught[0].message)
    codes = coder.transform(Q)  # warnings are errors: transform is silent
    assert np.isfinite(codes.toarray() if sparse.issparse(codes) else codes).all()
    assert coder.reconstruction_error(Q, codes).min() >= 0
    if not isinstance(coder, kc.KernelMatchingPursuit):
        assert coder.certify(Q, codes).max() < 1e-5


@pytest.mark.parametrize(
    "coder", [kc.KernelLLC(n_neighbors=50), kc.KernelBagOfWords(n_neighbors=50)]
)
def test_more_neighbours_than_atoms_means_all(coder, samples):
    with pytest.warns(UserWarning, match=r"n_neighbors=50 exceeds the number of atoms \(12\)"):
        coder.fit(samples)
    codes = coder.transform(samples + 0.1)
    assert_array_equal(
        codes, clone(coder).set_params(n_neighbors=12).fit(samples).transform(samples + 0.1)
    )
    assert np.all(codes != 0)


@pytest.mark.parametrize(
    "coder",
    [
        kc.KernelSparseCoder(alpha=1e-5, max_iter=1),
        kc.KernelSparseCoder(alpha=1e-5, max_iter=1, positive=True),
        kc.KernelSparseCoder(alpha=1e-5, max_iter=1, groups="y"),
        kc.KernelLCC(alpha=1e-5, max_iter=1),
        kc.KernelCoder(alpha=1e-5, max_iter=1),
    ],
    ids=str,
)
def test_giving_up_is_reported_with_advice(coder, rng):
    X, Q = rng.normal(size=(40, 3)), rng.normal(size=(6, 3))
    coder.fit(X, np.arange(40) % 5)
    with pytest.warns(ConvergenceWarning, match=r"of 6 codes did not converge.*increase max_iter"):
        codes = coder.transform(Q)
    assert np.isfinite(codes).all()
    gaps = coder.certify(Q, codes)
    assert np.all(gaps > 1e-8)  # the judge agrees that they are not optimal
    better = clone(coder).set_params(max_iter=10_000).fit(X, np.arange(40) % 5)
    assert better.certify(Q, better.transform(Q)).max() < gaps.max()


# Parameters that make no sense ----------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0, -1.0, np.nan, np.inf, "small", None, True])
@pytest.mark.parametrize(
    "coder",
    [
        kc.KernelSparseCoder(),
        kc.KernelLLC(n_neighbors=None),
        kc.KernelLCC(),
        kc.KernelCoder(),
    ],
    ids=str,
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


# Data that are wrong --------------------------------------------------------------------------


@EVERY_CODER
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity(coder, bad, samples):
    broken = samples.copy()
    broken[3, 1] = bad
    y = np.arange(12) % 2
    coder = clone(coder)
    with pytest.raises(ValueError, match="Input X contains"):
        coder.fit(broken, y)
    coder.fit(samples, y)
    with pytest.raises(ValueError, match="Input X contains"):
        coder.transform(broken)
    with pytest.raises(ValueError, match="Input X contains"):
        coder.reconstruction_error(broken)


@EVERY_CODER
def test_shapes(coder, samples):
    coder, y = clone(coder), np.arange(12) % 2
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        coder.fit(samples[0], y[:3])
    with pytest.raises(ValueError, match="dim 3"):
        coder.fit(samples[None])
    with pytest.raises(ValueError, match="0 sample"):
        coder.fit(samples[:0], y[:0])
    with pytest.raises(NotFittedError):
        coder.transform(samples)
    coder.fit(samples, y)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        coder.transform(samples[0])
    with pytest.raises(ValueError, match=r"2 features, but .* is expecting 3 features"):
        coder.transform(samples[:, :2])
    with pytest.raises(ValueError, match=r"2 features, but .* is expecting 3 features"):
        coder.certify(samples[:, :2], np.ones((12, 12)))


def test_sparse_and_complex_and_text(samples):
    with pytest.raises(TypeError, match="Sparse data was passed"):
        kc.KernelSparseCoder().fit(sparse.csr_array(samples))
    with pytest.raises(ValueError, match="Complex data not supported"):
        kc.KernelSparseCoder().fit(samples + 1j)
    with pytest.raises(ValueError, match="could not convert string to float"):
        kc.KernelSparseCoder().fit([["a", "b"], ["c", "d"]])


@pytest.mark.parametrize("kernel", ["log-euclidean", "stein"])
def test_matrices_that_are_not_spd(kernel, rng):
    X = covariances(rng)
    coder = kc.KernelSparseCoder(kernel=kernel).fit(X)
    skew, negative, nan = X.copy(), X.copy(), X.copy()
    skew[2, 0, 1] += 1.0
    negative[2] -= 100 * np.eye(3)
    nan[2, 0, 0] = np.nan
    for broken, message in (
        (skew, "expected symmetric matrices, sample 2"),
        (negative, "expected positive definite matrices, sample 2"),
        (nan, "contains NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(coder).fit(broken)
        with pytest.raises(ValueError, match=message):
            coder.transform(broken)
    with pytest.raises(ValueError, match=r"expected samples of shape \(n, p, p\)"):
        clone(coder).fit(X[:, 0])
    with pytest.raises(ValueError, match=r"square matrices \(n, p, p\)"):
        clone(coder).fit(X[:, :2])
    with pytest.raises(ValueError, match=r"2 features, but .* is expecting 3"):
        coder.transform(X[:, :2, :2])


@pytest.mark.parametrize("kernel", ["projection", "projection-gaussian"])
def test_bases_that_are_not_orthonormal(kernel, rng):
    X = np.linalg.qr(rng.normal(size=(6, 5, 2)))[0]
    coder = kc.KernelSparseCoder(kernel=kernel).fit(X)
    with pytest.raises(ValueError, match="expected bases with orthonormal columns"):
        clone(coder).fit(2 * X)
    with pytest.raises(ValueError, match="expected bases with orthonormal columns"):
        coder.transform(X + 0.1)


@pytest.mark.parametrize("kernel", ["chi2", "intersection"])
def test_negative_histograms(kernel, rng):
    X = rng.dirichlet(np.ones(4), size=7)
    coder = kc.KernelSparseCoder(kernel=kernel).fit(X)
    with pytest.raises(ValueError, match="Negative values in data"):
        clone(coder).fit(X - 0.5)
    with pytest.raises(ValueError, match="Negative values in data"):
        coder.transform(X - 0.5)


def test_precomputed_matrices_of_the_wrong_shape(samples):
    gram = samples @ samples.T
    coder = kc.KernelSparseCoder(kernel="precomputed")
    with pytest.raises(ValueError, match=r"square training matrix \(n, n\), got shape \(12, 7\)"):
        coder.fit(gram[:, :7])
    with pytest.raises(ValueError, match="symmetric training matrix"):
        coder.fit(np.triu(gram))
    with pytest.raises(ValueError, match="indices of training samples"):
        coder.set_params(atoms=samples).fit(gram)
    with pytest.raises(ValueError, match="atoms must be indices from 0 to 11"):
        coder.set_params(atoms=[0, 12]).fit(gram)
    with pytest.raises(ValueError, match="atoms must be indices from 0 to 11"):
        coder.set_params(atoms=[0, -1]).fit(gram)
    coder.set_params(atoms=[0, 3]).fit(gram)
    with pytest.raises(ValueError, match=r"7 features, but .* is expecting 12"):
        coder.transform(gram[:, :7])
    with pytest.raises(ValueError, match=r"7 features, but .* is expecting 12"):
        coder.reconstruction_error(gram[:, :7])


def test_kernels_that_return_nonsense(samples):
    def nan(X, Z):
        return np.full((len(X), len(Z)), np.nan)

    def short(X, Z):
        return np.ones(len(X))

    def scalar(x, z):
        return float(np.sum(x) @ np.sum(z)) if np.ndim(x) == 1 else 1.0

    with pytest.raises(ValueError, match="NaN or infinity"):
        kc.KernelSparseCoder(kernel=nan).fit(samples)
    for function in (short, scalar):
        with pytest.raises(ValueError, match="must take whole stacks, not single samples"):
            kc.KernelSparseCoder(kernel=function).fit(samples)
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match="kernel returned NaN or infinite"),
    ):
        kc.KernelSparseCoder(kernel=Polynomial(degree=99, gamma=1e20)).fit(samples)


def test_codes_of_the_wrong_shape(samples):
    coder = kc.KernelSparseCoder().fit(samples)
    good = coder.transform(samples)
    for method in (coder.certify, coder.reconstruction_error):
        with pytest.raises(ValueError, match="one column for each of the 12 atoms, got shape"):
            method(samples, good[:, :5])
        with pytest.raises(ValueError, match="12 samples but 5 codes"):
            method(samples, good[:5])
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
            method(samples, good[0])
    with pytest.raises(ValueError, match="one column for each of the 12 atoms, got shape"):
        coder.inverse_transform(good[:, :5])
    broken = np.full_like(good, np.nan)
    with pytest.raises(ValueError, match="codes must be finite"):
        coder.reconstruction_error(samples, broken)
    with pytest.raises(ValueError, match="codes must be finite"):
        coder.inverse_transform(sparse.csr_array(broken))
    assert np.all(np.isinf(coder.certify(samples, broken)))


def test_inverse_transform_is_refused_where_atoms_are_not_vectors(samples, rng):
    gram = samples @ samples.T
    for coder, X in (
        (kc.KernelSparseCoder(kernel="precomputed"), gram),
        (kc.KernelSparseCoder(kernel="log-euclidean"), covariances(rng, 12)),
        (kc.KernelSparseCoder(atoms=12, init="kernel-k-means"), samples),
    ):
        with pytest.raises(ValueError, match="inverse_transform needs atoms that are vectors"):
            coder.fit(X).inverse_transform(np.eye(12))
    with pytest.raises(NotFittedError):
        kc.KernelSparseCoder().inverse_transform(np.eye(12))
