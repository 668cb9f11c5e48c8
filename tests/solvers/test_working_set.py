"""Codes without the whole Gram matrix: the same as with it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import kernelcoding as kc
from kernelcoding import constraints, guide, priors
from kernelcoding.dictionary import PointDictionary
from kernelcoding.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from kernelcoding.kernels.single import SingleValues
from kernelcoding.penalty import Penalty
from kernelcoding.solvers import small_problem, working_set
from kernelcoding.solvers.result import Options

N, TINY = 300, 1e-4  # atoms; gigabytes: a quarter of what their Gram matrix takes
X, Y = load_digits(return_X_y=True)
ATOMS, SAMPLES = X[:N] / 16.0, X[N : N + 24] / 16.0
PRIORS = (
    priors.L1(),
    priors.ElasticNet(0.5),
    priors.WeightedL1(np.linspace(0.5, 1.5, N)),
    priors.WeightedL1(np.r_[0.0, np.ones(N - 1)]),
    priors.LocalCoordinate(),
    priors.NoPrior(),
)
CONSTRAINTS = (
    constraints.Free(),
    constraints.NonNegative(),
    constraints.SumToOne(),
    constraints.Simplex(),
)
PAIRS = [
    (prior, constraint)
    for prior in PRIORS
    for constraint in CONSTRAINTS
    if prior.kind == "sparse" or constraint.nonnegative
]


def fitted(coder, data=ATOMS):
    """A coder that may not compute the Gram matrix, and did not."""
    with kc.memory_budget(TINY):
        coder.fit(data)
    assert "_whole" not in vars(coder.dictionary_.facts)
    return coder


def coded(coder, samples=SAMPLES):
    with kc.memory_budget(TINY):
        codes = coder.transform(samples)
    assert "_whole" not in vars(coder.dictionary_.facts)
    return codes


@pytest.mark.filterwarnings("ignore:The l1 norm")
@pytest.mark.parametrize(("prior", "constraint"), PAIRS, ids=lambda part: type(part).__name__)
def test_codes_are_those_of_the_whole_matrix(prior, constraint):
    make = kc.KernelCoder(Gaussian("median"), prior=prior, constraint=constraint, alpha=0.01)
    whole = make.fit(ATOMS)
    expected, formulation = whole.transform(SAMPLES), whole.formulation()
    asked = whole.dictionary_.problem(SAMPLES)
    parts = fitted(kc.KernelCoder(**make.get_params(deep=False)))
    codes = coded(parts)
    objectives = [formulation.objective(asked, given) for given in (codes, expected)]
    assert_allclose(*objectives, atol=1e-12)
    with kc.memory_budget(TINY):
        gap = parts.certify(SAMPLES, codes)
        errors = parts.reconstruction_error(SAMPLES, codes)
    assert np.all(gap >= whole.certify(SAMPLES, codes) - 1e-12)
    assert_allclose(errors, whole.reconstruction_error(SAMPLES, codes), atol=1e-12)


def test_codes_on_the_simplex_do_not_notice_the_origin():
    make = kc.KernelCoder("linear", prior=priors.NoPrior(), constraint=constraints.Simplex())
    with kc.memory_budget(TINY):
        near = fitted(kc.KernelCoder(**make.get_params(deep=False)))
        expected = near.reconstruction_error(SAMPLES, near.transform(SAMPLES))
        codes = coded(fitted(make, ATOMS + 1000.0), SAMPLES + 1000.0)
        found = near.reconstruction_error(SAMPLES, codes)
    assert_allclose(found, expected, rtol=1e-4)


def test_a_useless_guide_costs_time_alone(monkeypatch):
    monkeypatch.setattr(guide, "LANDMARKS", 1)
    monkeypatch.setattr(working_set, "FEW", 3)
    monkeypatch.setattr(working_set, "ROUNDS", 2)
    expected = kc.KernelSparseCoder(alpha=0.002).fit(ATOMS).transform(SAMPLES)
    codes = coded(fitted(kc.KernelSparseCoder(alpha=0.002)))
    assert_allclose(codes, expected, atol=1e-10)


KERNELS = (
    Laplacian("median"),
    Linear(),
    Polynomial(degree=2),
    kc.kernels.ChiSquared("median"),
    Gaussian(0.5),
    0.5 * Gaussian(0.1) + 0.5 * Laplacian(0.05),
)


FEWER = 160  # atoms of the product of kernels and formulations
FORMULATIONS = (
    (priors.L1(), constraints.Free()),
    (priors.L1(), constraints.NonNegative()),
    (priors.ElasticNet(0.5), constraints.Free()),
    (priors.WeightedL1(np.linspace(0.5, 1.5, FEWER)), constraints.NonNegative()),
    (priors.L1(), constraints.SumToOne()),
    (priors.NoPrior(), constraints.Simplex()),
)


@pytest.fixture
def small_steps(monkeypatch):
    """Few atoms at a time: passes over all atoms and bounds decide, as in large dictionaries."""
    for module, name, size in [
        (small_problem, "FIRST", 8),
        (small_problem, "AT_ONCE", 4),
        (small_problem, "SPARE", 4),
        (working_set, "FEW", 4),
        (working_set, "ROUNDS", 3),
        (working_set, "CHUNK", 3),
        (working_set, "TILE", 2**9),
        (working_set, "NARROWEST", 16),
        (working_set, "SQUARE", 8),
    ]:
        monkeypatch.setattr(module, name, size)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize(
    ("prior", "constraint"), FORMULATIONS, ids=lambda part: type(part).__name__
)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_any_kernel_and_formulation(kernel, prior, constraint):
    # Norms that differ by decades: small problems are scaled like large ones.
    linear = isinstance(kernel, Linear)
    data = ATOMS[:FEWER] * (np.logspace(-3, 0, FEWER)[:, None] if linear else 1.0)
    make = kc.KernelCoder(kernel, prior=prior, constraint=constraint, alpha=0.02)
    whole = clone(make).fit(data)
    expected = whole.transform(SAMPLES[:8])
    with kc.memory_budget(1e-5):
        parts = clone(make).fit(data)
        codes = parts.transform(SAMPLES[:8])
    assert "_whole" not in vars(parts.dictionary_.facts)
    asked, formulation = whole.dictionary_.problem(SAMPLES[:8]), whole.formulation()
    objectives = [formulation.objective(asked, given) for given in (codes, expected)]
    assert_allclose(*objectives, rtol=1e-11, atol=1e-11)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_look_at_all_atoms_is_as_exact_as_it_says(kernel, rng):
    """Atoms that codes use, and atoms that none does: correlations within their own bound."""
    with kc.memory_budget(1e-5):
        coder = kc.KernelSparseCoder(kernel, alpha=0.02).fit(ATOMS)
        asked = coder.dictionary_.problem(SAMPLES)
        penalty = Penalty(np.full((1, N), 0.02), np.zeros((1, N)))
        search = working_set._Search(asked, penalty, constraints.Free(), Options())
        codes = np.where(rng.random((len(SAMPLES), N)) < 0.1, rng.normal(size=(1, N)), 0.0)
        codes[:, N // 3 : N // 2] = 0.0
        rows = np.array([4, 1, 7])
        search._look(rows, sparse.csr_array(codes[rows]))
    kernel = coder.kernel_
    expected = (kernel(SAMPLES, ATOMS) - codes @ kernel(ATOMS))[rows]
    off = np.abs(search.correlation[rows] - expected).max(axis=1)
    assert np.all(off <= search.errors[rows])
    assert np.all(search.errors[rows] <= 1e-3 * (1 + np.abs(expected).max(axis=1)))


@pytest.mark.parametrize(
    ("prior", "constraint"),
    [(priors.L1(), constraints.Free()), (priors.NoPrior(), constraints.NonNegative())],
    ids=["L1", "NoPrior"],
)
def test_more_atoms_stay_in_doubt_than_are_looked_at_one_by_one(prior, constraint, monkeypatch):
    """Copies of the atoms of a code are at the bound itself: no estimate can clear them."""
    monkeypatch.setattr(working_set, "FEW", 3)
    monkeypatch.setattr(working_set, "SHARE", N)
    data = np.repeat(ATOMS[:20], 15, axis=0)
    make = kc.KernelCoder(Gaussian("median"), prior=prior, constraint=constraint, alpha=0.01)
    whole = make.fit(data)
    asked, formulation = whole.dictionary_.problem(SAMPLES), whole.formulation()
    expected = formulation.objective(asked, whole.transform(SAMPLES))
    codes = coded(fitted(kc.KernelCoder(**make.get_params(deep=False)), data))
    assert_allclose(formulation.objective(asked, codes), expected, atol=1e-10)


def test_a_given_matrix():
    kernel = Gaussian(0.1)
    gram, cross = kernel(ATOMS), kernel(SAMPLES, ATOMS)
    expected = kc.KernelSparseCoder("precomputed", alpha=0.02).fit(gram).transform(cross)
    with pytest.warns(UserWarning, match="looked at for 256 of its 300 atoms"):
        parts = fitted(kc.KernelSparseCoder("precomputed", alpha=0.02), gram)
    assert_allclose(coded(parts, cross), expected, atol=1e-12)
    indefinite = gram - 0.5 * np.eye(N)
    refused = pytest.raises(MemoryError, match="spectrum of the Gram matrix of 300 atoms")
    with pytest.warns(UserWarning, match="looked at"), refused, kc.memory_budget(TINY):
        kc.KernelSparseCoder("precomputed").fit(indefinite)


def test_single_precision_samples():
    single, samples = ATOMS.astype(np.float32), SAMPLES.astype(np.float32)
    expected = kc.KernelSparseCoder(alpha=0.02).fit(single).transform(samples)
    codes = coded(fitted(kc.KernelSparseCoder(alpha=0.02), single), samples)
    assert codes.dtype == np.float32
    assert_allclose(codes, expected, atol=1e-4)


@pytest.mark.parametrize("changed", [{"n_jobs": 2}, {"sparse_output": True}])
def test_threads_and_sparse_output_change_nothing(changed):
    expected = kc.KernelSparseCoder(alpha=0.02).fit(ATOMS).transform(SAMPLES)
    codes = coded(fitted(kc.KernelSparseCoder(alpha=0.02, **changed)))
    assert_allclose(codes.toarray() if "sparse_output" in changed else codes, expected, atol=1e-12)


def test_a_code_does_not_depend_on_its_batch():
    parts = fitted(kc.KernelSparseCoder(alpha=0.01))
    together = coded(parts)
    assert_allclose(coded(parts, SAMPLES[5:6]), together[5:6], atol=1e-12)
    assert_allclose(coded(parts, SAMPLES[::-1]), together[::-1], atol=1e-12)


def test_samples_far_from_all_atoms_have_zero_codes():
    parts = fitted(kc.KernelSparseCoder(Gaussian(0.5), alpha=0.02))
    far = np.vstack([SAMPLES[:2], SAMPLES[:1] + 1e3, SAMPLES[:1] + 1e30])
    codes = coded(parts, far)
    assert codes[:2].any(axis=1).all()
    assert not codes[2:].any()


def test_rows_that_do_not_converge_are_told():
    parts = fitted(kc.KernelSparseCoder(alpha=0.001, max_iter=1))
    with pytest.warns(ConvergenceWarning, match="24 of 24 codes did not converge"):
        coded(parts)


def test_the_residual_rule():
    rule = kc.ResidualClassifier(kc.KernelSparseCoder(alpha=0.02))
    expected = rule.fit(ATOMS, Y[:N]).predict(SAMPLES)
    with kc.memory_budget(TINY):
        found = rule.fit(ATOMS, Y[:N]).predict(SAMPLES)
        assert "_whole" not in vars(rule.coder_.dictionary_.facts)
    assert np.array_equal(found, expected)


class Own:
    """An l1 prior that nobody knows as such."""

    def value(self, codes):
        return np.abs(codes).sum(axis=1)

    def prox(self, points, scale):
        return np.sign(points) * np.maximum(np.abs(points) - scale, 0.0)


REFUSED = {
    "groups": kc.KernelSparseCoder(groups=np.arange(N) % 10),
    "groups of labels": kc.KernelSparseCoder(groups="y"),
    "exact LLC": kc.KernelLLC(n_neighbors=None),
    "ridge": kc.KernelCoder(prior=priors.Ridge(), constraint=constraints.Free()),
    "own prior": kc.KernelCoder(prior=Own(), constraint=constraints.Free()),
    "indefinite": kc.KernelSparseCoder(Sigmoid(gamma=0.1, coef0=-1.0)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_the_whole_matrix_is_refused_with_advice(name):
    advice = "Gram matrix of 300 atoms .* more than the budget .* Use fewer atoms"
    with kc.memory_budget(TINY), pytest.raises(MemoryError, match=advice):
        REFUSED[name].fit(ATOMS, Y[:N])


@pytest.mark.parametrize("offset", [0.0, 1.0, 30.0])
def test_single_precision_is_as_wrong_as_it_says(offset, rng):
    atoms, samples = rng.normal(size=(80, 40)) + offset, rng.normal(size=(9, 40)) + offset
    kernel = Gaussian(0.02)
    values = SingleValues.of(kernel, kernel.prepare(atoms))
    rows = values.of_samples(samples)
    wrong = np.abs(values.between(rows, slice(None)) - kernel(samples, atoms))
    assert np.all(wrong <= rows.errors[:, None])
    assert rows.errors.max() < 1e-2
    own = values.of_atoms(np.arange(5))
    assert np.all(np.abs(values.between(own, slice(None)) - kernel(atoms[:5], atoms)) <= 1e-5)


@pytest.mark.usefixtures("small_steps")
def test_bounds_of_all_atoms_hold_at_every_reference():
    kernel, alpha, free = Gaussian(0.05), 0.01, constraints.Free()
    with kc.memory_budget(TINY):
        asked = PointDictionary(kernel, ATOMS).problem(SAMPLES)
        search = working_set._Search(asked, priors.L1().bind(asked) * alpha, free, Options())
        rows, shares = search.start(), []
        for _ in range(3):  # at no code, and at codes
            for row in rows:
                small = search.small[row]
                small.solve(free, Options())
                move = small.moved(search.guide)
                excess, unsure = search._estimates(row, move, search._shifts([move])[0])
                code = small.code_row().toarray()[0]
                truth = np.abs(kernel(SAMPLES[row : row + 1], ATOMS)[0] - code @ kernel(ATOMS))
                assert np.all(np.abs(excess - (truth - alpha)) <= unsure)
                shares.append(move.share)
                others = np.setdiff1d(np.arange(N), small.atoms)
                small.add(others, truth[others])
            search.renew(np.array(rows))
    assert np.all(np.abs(shares[:24]) > 0.1)  # from the code of zeros, along the sample
    assert not np.any(shares[24:])


def test_single_precision_is_left_alone_where_it_tells_nothing(rng):
    atoms = 1e3 * rng.normal(size=(20, 40))
    kernel = Gaussian(1.0)
    assert SingleValues.of(kernel, kernel.prepare(atoms)) is None
    assert SingleValues.of(Linear(), Linear().prepare(atoms)) is None


def test_the_bound_of_the_guide_holds():
    facts = PointDictionary(Gaussian(0.05), ATOMS).facts
    found = guide.Guide.of(facts)
    assert found.coordinates.shape[1] == N // guide.SHARE
    estimate = found.coordinates.astype(float) @ found.coordinates.T
    bound = np.outer(found.spread, found.spread) + found.slack * np.outer(found.norms, found.norms)
    wrong = np.abs(estimate - facts.gram)
    assert np.all(wrong <= bound)
    off = ~np.eye(N, dtype=bool)
    assert (wrong / bound)[off].max() > 0.5  # it is no more than it need be
