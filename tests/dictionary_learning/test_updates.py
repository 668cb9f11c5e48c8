"""Updates of atoms against the same updates on explicit vectors, written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import kernelcoding as kc
from helpers.cases import gaussian
from helpers.learning import WORLDS, never_rises, sparse_codes, world
from kernelcoding.codes import dense
from kernelcoding.dictionary import PointDictionary
from kernelcoding.dictionary_learning.half_steps.coding import (
    Everywhere,
    code_all,
    objective_at,
    solve_all,
)
from kernelcoding.dictionary_learning.preimages import preimages
from kernelcoding.dictionary_learning.state import unit_norms
from kernelcoding.dictionary_learning.sums import Loads, SampleSums
from kernelcoding.dictionary_learning.updates import gradient, ksvd
from kernelcoding.dictionary_learning.updates.points import move_points
from kernelcoding.dictionary_learning.updates.quadratic import (
    closed_form,
    coordinate_descent,
    squares_over,
)
from kernelcoding.formulations import SoftAssignment
from kernelcoding.kernels import Gaussian, Linear, Polynomial
from kernelcoding.solvers.result import Options
from reference.features import quadratic_features
from reference.learning import descent_sweep, error, ksvd_sweep, numeric_gradient

EVERY_WORLD = pytest.mark.parametrize("kind", WORLDS)

# The closed form -------------------------------------------------------------------------------


@EVERY_WORLD
def test_closed_form_is_the_pseudo_inverse(kind, rng):
    here = world(kind, rng)
    codes = rng.normal(size=(30, 6))
    vectors, _ = here.unit_vectors(rng, 6)
    new = closed_form(here.frame, vectors, here.sums(codes))
    assert_allclose(here.atoms(new), np.linalg.pinv(codes) @ here.samples, atol=1e-8)
    if kind.endswith("samples"):
        assert_allclose(here.frame.weights(new), np.linalg.pinv(codes.T), atol=1e-10)


@EVERY_WORLD
def test_closed_form_of_sparse_codes_at_hand(kind, rng):
    here, codes = world(kind, rng), sparse_codes(rng, 30, 6)
    vectors, _ = here.unit_vectors(rng, 6)
    loads = sparse.csr_array(codes)
    sums = SampleSums(here.frame.combine(loads), codes.T @ codes, 30.0, loads)
    new = closed_form(here.frame, vectors, sums)
    assert_allclose(here.atoms(new), np.linalg.pinv(codes) @ here.samples, atol=1e-8)
    assert_allclose(new, closed_form(here.frame, vectors, sums.alone()), atol=1e-10)


@EVERY_WORLD
def test_closed_form_of_dependent_codes_reconstructs_as_well(kind, rng):
    here = world(kind, rng)
    codes = rng.normal(size=(30, 6))
    codes[:, 4], codes[:, 5] = 2.0 * codes[:, 0], codes[:, 1] - codes[:, 2]
    vectors, _ = here.unit_vectors(rng, 6)
    new = here.atoms(closed_form(here.frame, vectors, here.sums(codes)))
    best = codes @ np.linalg.pinv(codes) @ here.samples
    assert_allclose(codes @ new, best, atol=1e-8)


@EVERY_WORLD
def test_unused_atoms_stay(kind, rng):
    here = world(kind, rng)
    codes = rng.normal(size=(30, 5))
    codes[:, [1, 4]] = 0.0
    vectors, _ = here.unit_vectors(rng, 5)
    for new in (
        closed_form(here.frame, vectors, here.sums(codes)),
        coordinate_descent(here.frame, vectors, here.sums(codes), bounded=True),
    ):
        assert_array_equal(new[:, [1, 4]], vectors[:, [1, 4]])
        assert not np.allclose(new, vectors)


@EVERY_WORLD
def test_scaling_moves_norms_from_atoms_to_codes(kind, rng):
    here = world(kind, rng)
    codes = rng.normal(size=(30, 5))
    vectors, atoms = here.vectors(rng.normal(size=(30, 5)))
    scaled, norms = unit_norms(here.frame, vectors, vectors)
    assert_allclose(norms, np.linalg.norm(atoms, axis=1), rtol=1e-10)
    assert_allclose(np.linalg.norm(here.atoms(scaled), axis=1), 1.0)
    assert_allclose((codes * norms) @ here.atoms(scaled), codes @ atoms, atol=1e-10)


@pytest.mark.parametrize("n_landmarks", [None, 20])
@pytest.mark.parametrize(
    "coder",
    [
        kc.KernelSparseCoder(alpha=0.1),
        kc.KernelMatchingPursuit(n_nonzero=2),
        kc.KernelLCC(alpha=0.05),
        kc.KernelBagOfWords(sigma=0.5),
        kc.KernelBagOfWords(assignment="hard"),
    ],
    ids=repr,
)
def test_learning_in_h_is_learning_on_explicit_features(coder, n_landmarks, rng):
    X = 0.7 * rng.normal(size=(50, 3))
    histories = []
    for kernel, samples in ((Polynomial(degree=2), X), (Linear(), quadratic_features(X))):
        here = clone(coder).set_params(kernel=kernel)
        dl = kc.KernelDictionaryLearning(here, 6, n_landmarks, max_iter=5, tol=0)
        histories.append(dl.fit(samples).objective_history_)
    assert len(histories[0]) > 3
    assert_allclose(*histories, rtol=1e-6)


# Coordinate descent ----------------------------------------------------------------------------


@EVERY_WORLD
@pytest.mark.parametrize("n_atoms", [5, 40])
def test_coordinate_descent_solves_for_one_atom_after_the_other(kind, n_atoms, rng):
    here = world(kind, rng, n=50)
    codes = sparse_codes(rng, 50, n_atoms) * np.logspace(-1, 1, n_atoms)
    vectors, atoms = here.unit_vectors(rng, n_atoms)
    new = coordinate_descent(here.frame, vectors, here.sums(codes), bounded=True)
    expected = descent_sweep(here.samples, atoms, codes)
    assert 0 < np.sum(np.linalg.norm(expected, axis=1) < 0.999) < n_atoms
    assert_allclose(here.atoms(new), expected, atol=1e-8)
    sums = here.sums(codes)
    gain = sums.value(here.frame, vectors) - sums.value(here.frame, new)
    assert gain > 0
    expected_gain = error(here.samples, atoms, codes) - error(here.samples, expected, codes)
    assert_allclose(gain, expected_gain, rtol=1e-8)


@EVERY_WORLD
def test_coordinate_descent_ends_at_the_constrained_minimum(kind, rng):
    here = world(kind, rng, n=40)
    codes = 0.5 * rng.normal(size=(40, 5)) * [0.05, 0.1, 0.3, 3.0, 5.0]
    vectors, atoms = here.unit_vectors(rng, 5)
    values = [error(here.samples, atoms, codes)]
    for _ in range(300):
        vectors = coordinate_descent(here.frame, vectors, here.sums(codes), bounded=True)
        values.append(error(here.samples, here.atoms(vectors), codes))
    assert never_rises(values)
    atoms = here.atoms(vectors)
    gradient = codes.T @ (codes @ atoms - here.samples)
    norms = np.linalg.norm(atoms, axis=1)
    inside = norms < 1.0 - 1e-6
    assert 0 < inside.sum() < 5  # both kinds are there
    assert norms.max() <= 1.0 + 1e-9
    assert_allclose(gradient[inside], 0.0, atol=1e-7)
    multipliers = -np.sum(gradient[~inside] * atoms[~inside], axis=1)
    assert multipliers.min() >= 0.0
    assert_allclose(gradient[~inside] + multipliers[:, None] * atoms[~inside], 0.0, atol=1e-6)


# K-SVD -----------------------------------------------------------------------------------------


@EVERY_WORLD
@pytest.mark.parametrize("approximate", [False, True], ids=["ksvd", "aksvd"])
@pytest.mark.parametrize("large", [False, True], ids=["dense", "Lanczos"])
def test_ksvd_sweep_is_that_of_explicit_vectors(kind, approximate, large, rng, monkeypatch):
    monkeypatch.setattr(ksvd, "LARGE", 3 if large else 300)
    here = world(kind, rng, n=40)
    codes = sparse_codes(rng, 40, 12, n_nonzero=2)  # some pairs of atoms share no sample
    vectors, atoms = here.unit_vectors(rng, 12)
    new, new_codes = ksvd.sweep(here.frame, vectors, codes, approximate)
    expected, expected_codes = ksvd_sweep(here.samples, atoms, codes, approximate)
    assert_array_equal(new_codes != 0, codes != 0)
    for atom, code, wanted, wanted_code in zip(
        here.atoms(new), new_codes.T, expected, expected_codes.T, strict=True
    ):
        assert_allclose(np.outer(code, atom), np.outer(wanted_code, wanted), atol=1e-6)
        assert_allclose(np.linalg.norm(atom), 1.0)
    assert_allclose(here.frame.gram(new), here.atoms(new) @ here.atoms(new).T, atol=1e-8)
    after = error(here.samples, here.atoms(new), new_codes)
    assert after < error(here.samples, atoms, codes)


@EVERY_WORLD
@pytest.mark.parametrize("approximate", [False, True], ids=["ksvd", "aksvd"])
def test_ksvd_never_raises_the_error(kind, approximate, rng):
    here = world(kind, rng, n=40)
    vectors, atoms = here.unit_vectors(rng, 12)
    codes = sparse_codes(rng, 40, 12, n_nonzero=2)
    codes[:, 2] = 0.0  # an atom without users stays
    values = [error(here.samples, atoms, codes)]
    untouched = vectors[:, 2].copy()
    for _ in range(60):
        vectors, codes = ksvd.sweep(here.frame, vectors, codes, approximate)
        values.append(error(here.samples, here.atoms(vectors), codes))
    assert never_rises(values, 1e-9)
    assert_array_equal(vectors[:, 2], untouched)


@pytest.mark.parametrize("update", ["ksvd", "aksvd"])
def test_rounds_of_ksvd_are_those_of_dictlearn(update, rng):
    dictlearn = pytest.importorskip("dictlearn")
    X = rng.normal(size=(80, 8))
    coder = kc.KernelMatchingPursuit(kernel="linear", n_nonzero=2)
    ours = kc.KernelDictionaryLearning(coder, 12, update=update, init="random", max_iter=1, tol=0)
    ours.fit(X)
    start = X[np.sort(np.random.RandomState(0).choice(80, 12, replace=False))]
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    theirs = dictlearn.DictionaryLearning(
        12, fit_algorithm=update, n_nonzero_coefs=2, max_iter=1, dict_init=start, random_state=0
    ).fit(X)
    assert_allclose(ours.objective_history_[1], 0.5 * 8 * theirs.error_[0] ** 2, rtol=1e-8)


# Soft bag of words -----------------------------------------------------------------------------


def soft_error(samples, lost, atoms, sigma):
    """The definition, sample by sample; what the frame cannot see is an error, always."""
    total = 0.0
    for sample in samples:
        weights = np.exp(-sigma * ((sample - atoms) ** 2).sum(axis=1))
        total += np.sum((sample - weights @ atoms / weights.sum()) ** 2)
    return 0.5 * (total + lost.sum()) / len(samples)


@EVERY_WORLD
@pytest.mark.parametrize("sigma", [0.1, 2.0])
def test_gradient_of_soft_words_against_differences(kind, sigma, rng):
    here = world(kind, rng, n=20)
    vectors, atoms = here.unit_vectors(rng, 4)
    value, slope = gradient.value_and_gradient(here.frame, vectors, SoftAssignment(sigma))
    assert_allclose(value, soft_error(here.samples, here.lost, atoms, sigma), rtol=1e-9)
    numeric = numeric_gradient(
        lambda at: soft_error(here.samples, here.lost, at, sigma), here.atoms(vectors)
    )
    # Along the span of the samples, where atoms live.
    span = np.linalg.pinv(here.samples) @ here.samples
    assert_allclose(here.atoms(slope), numeric @ span, atol=1e-7)


@EVERY_WORLD
def test_charts_of_soft_words(kind, rng):
    here, soft = world(kind, rng, n=20), SoftAssignment(0.7)
    vectors, atoms = here.unit_vectors(rng, 3)
    chart = gradient.Chart(here.frame)
    flat = chart.flat(vectors)
    assert_allclose(here.atoms(chart.vectors(flat)), atoms, atol=1e-7)
    assert_allclose(flat @ flat, np.sum(atoms**2))  # orthonormal

    def value(at):
        return gradient.value_and_gradient(here.frame, chart.vectors(at), soft)[0]

    slope = gradient.value_and_gradient(here.frame, vectors, soft)[1]
    assert_allclose(chart.gradient(slope), numeric_gradient(value, flat), atol=1e-7)
    after = here.atoms(gradient.descend_atoms(here.frame, vectors, soft))
    before = soft_error(here.samples, here.lost, atoms, 0.7)
    assert soft_error(here.samples, here.lost, after, 0.7) < 0.95 * before


# Points ----------------------------------------------------------------------------------------


def point_error(points, X, codes, gamma):
    """Half the squared error in H of a Gaussian kernel, from its definition."""
    cross, gram = gaussian(X, points, gamma), gaussian(points, points, gamma)
    return 0.5 * len(X) - np.sum(codes * cross) + 0.5 * np.sum((codes @ gram) * codes)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_points_move_to_a_stationary_place(signed, form, rng):
    X, gamma = rng.normal(size=(25, 2)), 0.4
    codes = sparse_codes(rng, 25, 4, n_nonzero=2)
    codes = codes if signed else np.abs(codes)
    points = X[:4] + 0.1
    values = [point_error(points, X, codes, gamma)]
    for _ in range(150):
        points = move_points(points, X, form(codes), gamma)
        values.append(point_error(points, X, codes, gamma))
    assert never_rises(values, 1e-12)
    assert values[-1] < values[0]
    gradient = numeric_gradient(lambda at: point_error(at, X, codes, gamma), points)
    assert_allclose(gradient, 0.0, atol=1e-5)


def test_preimages_of_points_are_the_points(rng):
    landmarks, gamma = rng.uniform(-1, 1, size=(60, 2)), 1.0
    assert_allclose(preimages(np.eye(60)[:, :5], landmarks, gamma), landmarks[:5], atol=1e-6)
    # Points between the landmarks, as combinations of them.
    points = rng.uniform(-0.6, 0.6, size=(5, 2))
    gram = gaussian(landmarks, landmarks, gamma)
    weights = np.linalg.lstsq(gram, gaussian(landmarks, points, gamma), rcond=1e-12)[0]
    assert_allclose(preimages(weights, landmarks, gamma), points, atol=1e-3)


# Local coordinate coding -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["linear, samples", "linear, landmarks"])
def test_local_coordinates_pay_for_atoms_too(kind, rng):
    here, alpha = world(kind, rng), 0.3
    formulation = kc.KernelLCC(alpha=alpha).formulation()
    vectors, _ = here.unit_vectors(rng, 4)
    coded = code_all(here.frame, vectors, lambda block: formulation, Options())
    codes = dense(coded.codes)

    def objective(atoms):
        distances = ((here.samples[:, None] - atoms[None]) ** 2).sum(axis=2)
        penalty = np.mean(np.sum(np.abs(codes) * distances, axis=1))
        return error(here.samples, atoms, codes) + alpha * penalty

    assert_allclose(coded.objective, objective(here.atoms(vectors)), rtol=1e-9)
    best = here.atoms(closed_form(here.frame, vectors, coded.sums))
    assert_allclose(numeric_gradient(objective, best), 0.0, atol=1e-8)
    for size in (1e-3, 0.1, 1.0):
        assert objective(best + size * rng.normal(size=best.shape)) > objective(best)


def test_other_priors_leave_the_loads_alone(rng):
    codes = rng.normal(size=(7, 3))
    added = Loads.of(kc.KernelSparseCoder().formulation(), None, codes)
    assert_array_equal(added.loads, codes)
    assert_array_equal([added.extra, added.pull], 0.0)


@EVERY_WORLD
def test_sums_hold_the_gradient_of_exact_llc(kind, rng):
    here = world(kind, rng)
    llc = kc.KernelLLC(n_neighbors=None, alpha=0.3, sigma=2.0).formulation()
    vectors = here.unit_vectors(rng, 3)[0]
    coded = code_all(here.frame, vectors, lambda block: llc, Options())
    direction = here.unit_vectors(rng, 3)[0]

    def objective(step):
        moved = vectors + step * direction
        return objective_at(here.frame, moved, lambda block: llc, coded.codes, Options())

    slope = (objective(1e-5) - objective(-1e-5)) / 2e-5
    gradient = (vectors @ coded.sums.second - coded.sums.moment) / here.frame.n_samples
    assert_allclose(np.trace(here.frame.inner(gradient, direction)), slope, rtol=1e-5)


@EVERY_WORLD
def test_sums_measure_the_objective_up_to_a_constant(kind, rng):
    here, codes = world(kind, rng), rng.normal(size=(30, 3))
    vectors, atoms = here.unit_vectors(rng, 3)
    constant = 0.5 * np.mean((here.samples**2).sum(axis=1))
    value = here.sums(codes).value(here.frame, vectors) + constant
    assert_allclose(value, error(here.samples, atoms, codes))


@pytest.mark.parametrize("rank", [6, 4])
def test_squares_over_a_matrix_are_those_of_its_pseudoinverse(rank, rng):
    half = rng.normal(size=(6, rank)) * np.geomspace(1e-2, 1e2, 6)[:, None]
    matrix = half @ half.T
    rows = rng.normal(size=(9, rank)) @ half.T
    wanted = np.einsum("ij,ij->i", rows, rows @ np.linalg.pinv(matrix, rcond=1e-13))
    assert_allclose(squares_over(rows, matrix), wanted, rtol=1e-5)


@pytest.mark.parametrize("blocks", [1, 3])
def test_codes_without_sums_are_those_with_them(blocks, rng, monkeypatch):
    from kernelcoding.dictionary_learning.frames import landmarks as landmark_frames

    X = rng.normal(size=(40, 3))
    if blocks > 1:
        monkeypatch.setattr(landmark_frames, "KEPT", 0)
        monkeypatch.setattr(landmark_frames, "BLOCK", 1)  # sixteen samples per block
    frame = landmark_frames.LandmarkFrame(PointDictionary(Gaussian(0.5), X[:8], np.arange(8)), X)
    vectors = frame.samples(np.arange(5))
    formulation, options = kc.KernelSparseCoder(alpha=0.05).formulation(), Options(tol=1e-10)
    wanted = code_all(frame, vectors, Everywhere(formulation), options, keep_codes=True)
    found = solve_all(frame, vectors, formulation, options)
    assert len(list(frame.blocks(vectors))) == blocks
    assert_array_equal(dense(found.codes), dense(wanted.codes))
    assert found.convergence == wanted.convergence
    again = solve_all(frame, vectors, formulation, options, found.codes)
    assert_allclose(dense(again.codes), dense(wanted.codes), atol=1e-7)


def test_a_leading_direction_is_found_from_where_nothing_leads():
    n = ksvd.LARGE + 1
    assert_allclose(np.linalg.norm(ksvd.leading(np.zeros((n, n)), np.ones(n))), 1.0)
    products = np.diag(np.r_[2.0, 1.0, np.zeros(n - 2)])
    assert_allclose(np.abs(ksvd.leading(products, np.eye(n)[-1])), np.eye(n)[0], atol=1e-12)
