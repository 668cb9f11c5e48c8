"""Codes against independent truth: other libraries, explicit feature maps, formulas, KKT."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import SparseCoder, sparse_encode
from sklearn.linear_model import orthogonal_mp_gram
from sklearn.metrics.pairwise import (
    rbf_kernel,
)
from sklearn.preprocessing import normalize

import kernelcoding as kc
from kernelcoding import constraints, priors
from kernelcoding.kernels import (
    Gaussian,
    Polynomial,
)
from reference.features import quadratic_features, squared_errors

GAMMA = 1.5


@pytest.fixture
def blobs(rng):
    """Six unit atoms of the plane's third power: more atoms than dimensions."""
    return normalize(rng.normal(size=(6, 3))), rng.normal(size=(25, 3))


# Sparse codes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("alpha", [0.003, 0.05, 0.3])
def test_linear_sparse_codes_are_those_of_scikit_learn(alpha, positive, blobs):
    atoms, Q = blobs
    ours = kc.KernelSparseCoder(kernel="linear", alpha=alpha, positive=positive, tol=1e-10)
    peer = SparseCoder(
        atoms,
        transform_algorithm="lasso_cd",
        transform_alpha=alpha,
        positive_code=positive,
        transform_max_iter=200_000,
    )
    codes, expected = ours.fit(atoms).transform(Q), peer.transform(Q)
    values = [
        0.5 * squared_errors(Q, atoms, each) + alpha * np.abs(each).sum(axis=1)
        for each in (codes, expected)
    ]
    assert np.all(values[0] <= values[1] + 1e-9)
    if not sklearn.__version__.startswith("1.6"):  # which ends early for some rows
        assert_allclose(codes, expected, atol=2e-4)  # the peer's tolerance is fixed


@pytest.mark.parametrize("alpha", [0.01, 0.1])
def test_gaussian_sparse_codes_are_those_of_lars_in_gram_form(alpha, digits):
    X, Q = digits
    codes = kc.KernelSparseCoder(kernel=Gaussian(gamma=GAMMA), alpha=alpha).fit(X).transform(Q)
    # One dummy feature: scikit-learn divides alpha by the number of features.
    expected = sparse_encode(
        np.zeros((len(Q), 1)),
        np.zeros((len(X), 1)),
        gram=rbf_kernel(X, gamma=GAMMA),
        cov=rbf_kernel(X, Q, gamma=GAMMA),
        algorithm="lasso_lars",
        alpha=alpha,
    )
    assert_allclose(codes, expected, atol=1e-6)


def test_gaussian_sparse_codes_are_those_of_celer(digits):
    celer = pytest.importorskip("celer")
    X, Q = digits
    alpha = 0.02
    codes = kc.KernelSparseCoder(kernel=Gaussian(gamma=GAMMA), alpha=alpha).fit(X).transform(Q)
    values, vectors = np.linalg.eigh(rbf_kernel(X, gamma=GAMMA))
    factor = np.sqrt(values)[:, None] * vectors.T
    targets = (vectors.T @ rbf_kernel(X, Q, gamma=GAMMA)) / np.sqrt(values)[:, None]
    peer = celer.Lasso(alpha=alpha / len(factor), fit_intercept=False, tol=1e-12)
    for code, target in zip(codes[:5], targets.T[:5], strict=True):
        assert_allclose(code, peer.fit(np.asfortranarray(factor), target).coef_, atol=1e-6)


def test_sparse_codes_satisfy_the_optimality_conditions(digits):
    X, Q = digits
    alpha = 0.01
    gram, cross = rbf_kernel(X, gamma=GAMMA), rbf_kernel(Q, X, gamma=GAMMA)
    free = kc.KernelSparseCoder(kernel=Gaussian(gamma=GAMMA), alpha=alpha, tol=1e-9).fit(X)
    codes = free.transform(Q)
    pull = cross - codes @ gram
    assert np.abs(pull).max() <= alpha * (1 + 1e-7)
    assert_allclose(pull[codes != 0], alpha * np.sign(codes[codes != 0]), rtol=1e-6)
    assert 1 < np.count_nonzero(codes, axis=1).mean() < 40
    positive = free.set_params(positive=True).fit(X)
    codes = positive.transform(Q)
    pull = cross - codes @ gram
    assert codes.min() >= 0
    assert pull.max() <= alpha * (1 + 1e-7)
    assert_allclose(pull[codes != 0], alpha, rtol=1e-6)


def test_local_coordinate_codes_satisfy_the_optimality_conditions(digits):
    X, Q = digits
    alpha = 0.001
    codes = kc.KernelLCC(kernel=Gaussian(gamma=GAMMA), alpha=alpha, tol=1e-9).fit(X).transform(Q)
    gram, cross = rbf_kernel(X, gamma=GAMMA), rbf_kernel(Q, X, gamma=GAMMA)
    prices = alpha * (2.0 - 2.0 * cross)
    pull = cross - codes @ gram
    assert_allclose(codes.sum(axis=1), 1.0, atol=1e-10)
    for own_pull, price, code in zip(pull, prices, codes, strict=True):
        active = code != 0
        multipliers = (own_pull - price * np.sign(code))[active]
        assert np.ptp(multipliers) < 1e-7
        assert np.all(np.abs(own_pull - multipliers.mean()) <= price + 1e-7)
    assert (codes < 0).any()  # the constraint is a sum, not a simplex


def test_grouped_codes_choose_whole_classes(digits):
    X, Q = digits
    labels = np.array(list("abcd"))[np.arange(len(X)) % 4]
    coder = kc.KernelSparseCoder(kernel=Gaussian(gamma=GAMMA), alpha=0.05, groups="y", tol=1e-9)
    codes = coder.fit(X, labels).transform(Q)
    same = kc.KernelSparseCoder(kernel=Gaussian(gamma=GAMMA), alpha=0.05, groups=labels, tol=1e-9)
    assert_array_equal(codes, same.fit(X).transform(Q))
    pull = rbf_kernel(Q, X, gamma=GAMMA) - codes @ rbf_kernel(X, gamma=GAMMA)
    left_out = 0
    for label in "abcd":
        own = labels == label
        weight = 0.05 * np.sqrt(own.sum())
        norms = np.linalg.norm(codes[:, own], axis=1)
        used = norms > 0
        left_out += np.count_nonzero(~used)
        assert_allclose(
            pull[used][:, own], weight * codes[used][:, own] / norms[used, None], atol=1e-6
        )
        assert np.all(np.linalg.norm(pull[~used][:, own], axis=1) <= weight + 1e-7)
    assert left_out > 0


def test_grouped_codes_follow_the_atoms_that_were_chosen(digits):
    X, _ = digits
    labels = np.arange(len(X)) % 4
    coder = kc.KernelSparseCoder(atoms=20, groups="y", random_state=0, alpha=0.05).fit(X, labels)
    assert_array_equal(coder.groups_, labels[coder.dictionary_.index])
    assert_array_equal(coder.dictionary_.points, X[coder.dictionary_.index])


def test_larger_alpha_is_sparser_and_a_huge_one_gives_zeros(digits):
    X, Q = digits
    coder = kc.KernelSparseCoder(kernel=Gaussian(gamma=GAMMA))
    counts = [
        np.count_nonzero(coder.set_params(alpha=alpha).fit(X).transform(Q))
        for alpha in (1e-3, 1e-2, 1e-1)
    ]
    assert counts == sorted(counts, reverse=True)
    coder.set_params(alpha=1.01).fit(X)
    with pytest.warns(UserWarning, match=r"All codes are zero: alpha=1\.01 is too large"):
        assert not coder.transform(Q).any()  # no kernel value exceeds one


# Greedy codes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_nonzero", [1, 3, 10])
def test_pursuit_is_that_of_scikit_learn(n_nonzero, digits):
    X, Q = digits
    coder = kc.KernelMatchingPursuit(kernel=Gaussian(gamma=GAMMA), n_nonzero=n_nonzero).fit(X)
    expected = orthogonal_mp_gram(
        rbf_kernel(X, gamma=GAMMA), rbf_kernel(X, Q, gamma=GAMMA), n_nonzero_coefs=n_nonzero
    )
    assert_allclose(coder.transform(Q), expected.reshape(len(X), -1).T, atol=1e-8)


def test_least_squares_pursuit_takes_the_best_next_atom(digits):
    X, Q = digits
    X, Q = X[:25], Q[:6]
    coder = kc.KernelMatchingPursuit(kernel=Gaussian(gamma=GAMMA), n_nonzero=3, selection="ols")
    codes = coder.fit(X).transform(Q)
    gram, cross = rbf_kernel(X, gamma=GAMMA), rbf_kernel(Q, X, gamma=GAMMA)
    for code, k in zip(codes, cross, strict=True):
        chosen: list[int] = []
        for _ in range(3):
            trials = {
                j: k[[*chosen, j]]
                @ np.linalg.solve(gram[np.ix_([*chosen, j], [*chosen, j])], k[[*chosen, j]])
                for j in range(len(X))
                if j not in chosen
            }
            chosen.append(max(trials, key=trials.get))
        assert set(np.flatnonzero(code)) == set(chosen)
        assert_allclose(code[chosen], np.linalg.solve(gram[np.ix_(chosen, chosen)], k[chosen]))


# Assignment -----------------------------------------------------------------------------------


def soft_formula(squared_distances, sigma):
    """The formula as printed, in 80-bit floats, whose exponents do not underflow here."""
    weights = np.exp(-np.longdouble(sigma) * squared_distances.astype(np.longdouble))
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float64)


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp < 16384, reason="long doubles are doubles here")
@pytest.mark.parametrize("sigma", [1e-12, 0.3, 10.0, 500.0, 5000.0])
@pytest.mark.parametrize("kernel", ["linear", Gaussian(gamma=GAMMA)], ids=["linear", "Gaussian"])
def test_soft_assignment_is_its_formula(kernel, sigma, digits):
    X, Q = digits
    distances = ((Q[:, None] - X[None]) ** 2).sum(axis=2)
    if kernel != "linear":
        distances = 2.0 - 2.0 * np.exp(-GAMMA * distances)
    codes = kc.KernelBagOfWords(kernel=kernel, sigma=sigma).fit(X).transform(Q)
    assert_allclose(codes, soft_formula(distances, sigma), rtol=1e-9, atol=1e-12)
    assert_allclose(codes.sum(axis=1), 1.0, rtol=1e-12)
    nearest = np.argsort(distances, axis=1)[:, :4]
    local = kc.KernelBagOfWords(kernel=kernel, sigma=sigma, n_neighbors=4).fit(X).transform(Q)
    expected = np.zeros_like(local)
    weights = soft_formula(np.take_along_axis(distances, nearest, axis=1), sigma)
    np.put_along_axis(expected, nearest, weights, axis=1)
    assert_allclose(local, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sigma", [1e-300, 1e8, 1e300])
def test_extreme_bandwidths_are_uniform_or_hard(sigma, digits):
    X, Q = digits
    codes = kc.KernelBagOfWords(kernel="linear", sigma=sigma).fit(X).transform(Q)
    if sigma < 1:
        assert_allclose(codes, 1.0 / len(X))
    else:
        hard = kc.KernelBagOfWords(kernel="linear", assignment="hard").fit(X).transform(Q)
        assert_allclose(codes, hard, atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf", Polynomial(degree=2)], ids=str)
def test_hard_assignment_is_the_nearest_atom_by_brute_force(kernel, rng):
    X, Q = rng.normal(size=(40, 3)), rng.normal(size=(60, 3))
    codes = kc.KernelBagOfWords(kernel=kernel, assignment="hard").fit(X).transform(Q)
    lift = quadratic_features if isinstance(kernel, Polynomial) else np.asarray
    distances = ((lift(Q)[:, None] - lift(X)[None]) ** 2).sum(axis=2)
    assert_array_equal(codes, np.eye(len(X))[distances.argmin(axis=1)])


# Locality -------------------------------------------------------------------------------------


def bordered_solution(curvature):
    """Minimiser of ``y'Hy`` with ``1'y = 1`` from its KKT system."""
    size = len(curvature)
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = curvature
    system[size, size] = 0.0
    return np.linalg.solve(system, np.eye(size + 1)[size])[:size]


@pytest.mark.parametrize("regularization", [1e-4, 1e-1])
@pytest.mark.parametrize("quadratic", [False, True], ids=["linear", "quadratic"])
def test_approximate_llc_solves_its_kkt_system(quadratic, regularization, rng):
    X, Q = rng.normal(size=(30, 4)), rng.normal(size=(12, 4))
    kernel, lift = (Polynomial(degree=2), quadratic_features) if quadratic else ("linear", np.array)
    coder = kc.KernelLLC(kernel=kernel, n_neighbors=4, regularization=regularization).fit(X)
    codes = coder.transform(Q)
    for code, sample in zip(codes, lift(Q), strict=True):
        shifted = lift(X) - sample
        near = np.argsort((shifted**2).sum(axis=1))[:4]
        local = shifted[near] @ shifted[near].T
        expected = bordered_solution(local + regularization * np.trace(local) * np.eye(4))
        assert set(np.flatnonzero(code)) == set(near)
        assert_allclose(code[near], expected, rtol=1e-7)
    assert_allclose(coder.certify(Q, codes), 0.0, atol=1e-10)


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
@pytest.mark.parametrize("sigma", [0.5, 4.0])
def test_exact_llc_solves_its_kkt_system(sigma, alpha, rng):
    X, Q = rng.normal(size=(20, 3)), rng.normal(size=(8, 3))
    coder = kc.KernelLLC(kernel=Polynomial(degree=2), n_neighbors=None, sigma=sigma, alpha=alpha)
    codes = coder.fit(X).transform(Q)
    for code, sample in zip(codes, quadratic_features(Q), strict=True):
        shifted = quadratic_features(X) - sample
        distances = np.linalg.norm(shifted, axis=1)
        prices = np.exp(sigma * distances / distances.max())
        curvature = shifted @ shifted.T + 2.0 * alpha * np.diag(prices**2)
        assert_allclose(code, bordered_solution(curvature), rtol=1e-6, atol=1e-9)
    assert_allclose(coder.certify(Q, codes), 0.0, atol=1e-9)


# The general coder is all of them -------------------------------------------------------------

SAME = {
    "sparse": (kc.KernelSparseCoder(alpha=0.03), priors.L1(), constraints.Free()),
    "positive": (
        kc.KernelSparseCoder(alpha=0.03, positive=True),
        priors.L1(),
        constraints.NonNegative(),
    ),
    "LLC": (
        kc.KernelLLC(n_neighbors=None, alpha=0.03, sigma=2.0),
        priors.Locality(sigma=2.0),
        constraints.SumToOne(),
    ),
    "LCC": (kc.KernelLCC(alpha=0.03), priors.LocalCoordinate(), constraints.SumToOne()),
    "hard": (kc.KernelBagOfWords(assignment="hard"), priors.NoPrior(), constraints.OneAtom()),
    "omp": (kc.KernelMatchingPursuit(n_nonzero=4), priors.NoPrior(), constraints.AtMost(4)),
    "ols": (
        kc.KernelMatchingPursuit(n_nonzero=4, selection="ols"),
        priors.NoPrior(),
        constraints.AtMost(4, "ols"),
    ),
}


@pytest.mark.parametrize(("named", "prior", "constraint"), SAME.values(), ids=SAME.keys())
def test_named_coders_are_cases_of_the_general_one(named, prior, constraint, digits):
    X, Q = digits
    general = kc.KernelCoder(prior=prior, constraint=constraint, alpha=0.03)
    codes = named.fit(X).transform(Q)
    assert_allclose(general.fit(X).transform(Q), codes, atol=1e-12)
    assert_allclose(general.certify(Q, codes), named.certify(Q, codes), atol=1e-12)


def test_the_general_coder_defaults_to_local_weights_on_the_simplex(digits):
    X, Q = digits
    prior, constraint = priors.LocalCoordinate(), constraints.Simplex()
    spelled = kc.KernelCoder(prior=prior, constraint=constraint, alpha=0.01)
    codes = kc.KernelCoder().fit(X).transform(Q)
    assert_array_equal(codes, spelled.fit(X).transform(Q))
    assert codes.min() >= 0
    assert_allclose(codes.sum(axis=1), 1.0, atol=1e-9)
    # Its alpha does something: far atoms are left out.
    local = kc.KernelCoder(alpha=1.0).fit(X).transform(Q)
    assert np.count_nonzero(local) < 0.7 * np.count_nonzero(codes)


def test_the_general_coder_is_sparse_where_the_l1_norm_tells_codes_apart(digits):
    X, Q = digits
    for constraint in (constraints.Free(), constraints.NonNegative(), constraints.SumToOne()):
        given = kc.KernelCoder(constraint=constraint, alpha=0.05).fit(X)
        spelled = kc.KernelCoder(prior=priors.L1(), constraint=constraint, alpha=0.05).fit(X)
        assert_array_equal(given.transform(Q), spelled.transform(Q))


@pytest.mark.parametrize("prior", [priors.L1(), priors.ElasticNet(1.0)], ids=repr)
def test_an_alpha_that_weighs_a_constant_is_told_once(prior, digits):
    X, Q = digits
    coder = kc.KernelCoder(prior=prior, constraint=constraints.Simplex(), alpha=0.01)
    message = r"alpha=0.01 changes nothing. Use prior=NoPrior\(\)"
    with pytest.warns(UserWarning, match=message) as told:
        coder.fit(X)
    assert len(told) == 1
    nothing = kc.KernelCoder(prior=priors.NoPrior(), constraint=constraints.Simplex()).fit(X)
    assert_allclose(  # transform says nothing more
        coder.reconstruction_error(Q), nothing.reconstruction_error(Q), atol=1e-7
    )
    with pytest.warns(UserWarning, match=message) as told:
        kc.KernelDictionaryLearning(coder, n_atoms=5, max_iter=2).fit(X)
    assert len(told) == 1


class HomemadeL1:
    """A user's prior: nothing but the two methods asked for."""

    def value(self, codes):
        return np.abs(codes).sum(axis=1)

    def prox(self, points, scale):
        return np.sign(points) * np.maximum(np.abs(points) - scale, 0.0)


def test_a_prior_of_ones_own_is_solved(rng):
    X, Q = rng.normal(size=(15, 3)), rng.normal(size=(10, 3))
    own = kc.KernelCoder(prior=HomemadeL1(), constraint=constraints.Free(), alpha=0.05, tol=1e-9)
    known = kc.KernelSparseCoder(alpha=0.05, tol=1e-9)
    codes = own.fit(X).transform(Q)
    assert_allclose(codes, known.fit(X).transform(Q), atol=1e-5)
    assert own.certify(Q, codes).max() < 1e-6


def test_a_prior_of_ones_own_with_a_sum_constraint(rng):
    X, Q = rng.normal(size=(10, 3)), rng.normal(size=(6, 3))
    own = kc.KernelCoder(prior=HomemadeL1(), constraint=constraints.SumToOne(), alpha=0.05)
    known = kc.KernelCoder(prior=priors.L1(), constraint=constraints.SumToOne(), alpha=0.05)
    codes = own.fit(X).transform(Q)
    assert_allclose(codes.sum(axis=1), 1.0, atol=1e-8)
    assert_allclose(
        own.reconstruction_error(Q, codes), known.fit(X).reconstruction_error(Q), atol=1e-4
    )
