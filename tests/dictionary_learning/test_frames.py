"""Coordinates of vectors in H, landmarks, sums over samples, and which atoms are given up."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

import kernelcoding as kc
from helpers.learning import WORLDS, digits, never_rises, world
from kernelcoding.blocks import Worst
from kernelcoding.codes import count_users, dense
from kernelcoding.dictionary import PointDictionary
from kernelcoding.dictionary.building import choose_landmarks
from kernelcoding.dictionary.candidates import Candidates, KnownCandidates
from kernelcoding.dictionary.choosing import leverage_choice
from kernelcoding.dictionary_learning.frames import LandmarkFrame, frame_of
from kernelcoding.dictionary_learning.frames import landmarks as landmark_frames
from kernelcoding.dictionary_learning.half_steps import refresh
from kernelcoding.dictionary_learning.half_steps.coding import Everywhere, better, code_all
from kernelcoding.dictionary_learning.half_steps.learner import AtomLearner
from kernelcoding.dictionary_learning.online.state import BatchFrame
from kernelcoding.dictionary_learning.starts import initial_loads, shares
from kernelcoding.dictionary_learning.updates import update_for
from kernelcoding.gram import GramFacts
from kernelcoding.kernels import Gaussian, Linear, Precomputed
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers.result import Options
from reference.learning import error

EVERY_WORLD = pytest.mark.parametrize("kind", WORLDS)
GAMMA = 1.5

# Frames ----------------------------------------------------------------------------------------


@EVERY_WORLD
def test_frames_know_all_inner_products(kind, rng):
    here = world(kind, rng)
    frame = here.frame
    left, left_atoms = here.vectors(rng.normal(size=(30, 4)))
    right, right_atoms = here.vectors(rng.normal(size=(30, 3)))
    assert_allclose(here.atoms(left), left_atoms, atol=1e-9)
    assert_allclose(frame.inner(left, right), left_atoms @ right_atoms.T, atol=1e-8)
    assert_allclose(frame.gram(left), left_atoms @ left_atoms.T, atol=1e-8)
    assert_array_equal(frame.gram(left), frame.gram(left).T)
    assert_allclose(frame.squares(left), np.sum(left_atoms**2, axis=1), atol=1e-8)
    assert_allclose(frame.squares(left[:, 1]), np.sum(left_atoms[1] ** 2), atol=1e-8)
    assert_allclose(frame.project(left[:, 2]), here.samples @ left_atoms[2], atol=1e-8)
    (block,) = frame.blocks(left)
    assert_allclose(block.cross, here.samples @ left_atoms.T, atol=1e-8)
    assert_allclose(block.self_similarity, np.sum(here.samples**2, axis=1) + here.lost, atol=1e-8)
    assert_allclose(frame.dictionary(left).gram, left_atoms @ left_atoms.T, atol=1e-8)


@EVERY_WORLD
def test_frames_know_their_samples(kind, rng):
    here, rows, weights = world(kind, rng), np.array([3, 17, 4]), rng.normal(size=3)
    some = here.samples[rows]
    assert_allclose(here.atoms(here.frame.samples(rows)), some, atol=1e-8)
    assert_allclose(here.frame.kernel_of(rows), some @ some.T, atol=1e-8)
    total = here.frame.sum_of(rows, weights)
    assert_allclose(here.atoms(total[:, None])[0], weights @ some, atol=1e-8)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_counting_the_users_of_atoms(form):
    codes = np.array([[0.0, 1.0, 0.0], [0.0, -2.0, 1e-30]])
    assert_array_equal(count_users(form(codes)), [0, 2, 1])


@EVERY_WORLD
@pytest.mark.parametrize(
    "coder",
    [
        kc.KernelSparseCoder(alpha=0.05),
        kc.KernelLCC(alpha=0.05),
        kc.KernelBagOfWords(sigma=0.5),
        kc.KernelMatchingPursuit(n_nonzero=2),
    ],
    ids=repr,
)
def test_sums_over_coded_samples(kind, coder, rng):
    here = world(kind, rng)
    vectors, atoms = here.unit_vectors(rng, 5)
    coded = code_all(here.frame, vectors, lambda block: coder.formulation(), Options())
    codes = dense(coded.codes)
    errors = np.sum((here.samples - codes @ atoms) ** 2, axis=1) + here.lost
    assert_allclose(coded.worst.errors, np.sort(errors)[::-1][:5], atol=1e-8)
    assert_allclose(errors[coded.worst.rows], coded.worst.errors, atol=1e-8)
    assert_array_equal(coded.usage, np.count_nonzero(codes, axis=0))
    assert coded.sums.n_samples == 30
    size = 2 * coder.alpha * np.abs(codes) if isinstance(coder, kc.KernelLCC) else 0 * codes
    assert_allclose(here.atoms(coded.sums.moment), (codes + size).T @ here.samples, atol=1e-8)
    assert_allclose(coded.sums.second, codes.T @ codes + np.diag(size.sum(axis=0)), atol=1e-10)


def test_blocks_of_samples_change_nothing(monkeypatch):
    X = digits(90)
    landmarks = PointDictionary(Gaussian(gamma=GAMMA), X[:25])
    formulation = kc.KernelSparseCoder(alpha=0.05).formulation()
    kept = LandmarkFrame(landmarks, X)
    vectors = kept.samples(np.arange(8))
    whole = code_all(kept, vectors, lambda block: formulation, Options())
    monkeypatch.setattr(landmark_frames, "KEPT", 0)
    monkeypatch.setattr(landmark_frames, "BLOCK", 400)
    passing = LandmarkFrame(landmarks, X)
    assert len(list(passing.blocks(vectors))) > 4
    pieces = code_all(passing, vectors, lambda block: formulation, Options())
    assert pieces.codes is None
    assert_allclose(pieces.sums.moment, whole.sums.moment, atol=1e-10)
    assert_allclose(pieces.sums.second, whole.sums.second, atol=1e-10)
    assert_allclose(pieces.objective, whole.objective)
    assert_allclose(pieces.worst.errors, whole.worst.errors, atol=1e-10)
    assert_array_equal(pieces.worst.rows, whole.worst.rows)
    rows = np.array([60, 2])
    assert_allclose(passing.samples(rows), kept.samples(rows), atol=1e-14)
    loads = np.eye(90)[:, :3]
    assert_allclose(passing.combine(loads), kept.combine(loads), atol=1e-14)


@pytest.mark.parametrize("n", [1, 30, 1500])
def test_a_triangular_basis_is_orthonormal_and_spans_all(n, rng):
    features = rng.normal(size=(n, n)) + 2.0 * np.sqrt(n) * np.eye(n)
    facts = GramFacts(features @ features.T)
    basis = facts.triangular_basis
    assert_array_equal(np.tril(basis, -1), 0.0)
    orthonormal = basis.T @ features
    assert_allclose(orthonormal @ orthonormal.T, np.eye(n), atol=1e-9)
    assert facts.orthonormal_basis().shape == (n, n)


def test_landmarks_near_singular_have_no_triangular_basis(rng):
    features = rng.normal(size=(20, 20))
    assert GramFacts(features @ features.T).triangular_basis is not None
    twice = np.vstack([features[:19], features[:1]])
    assert GramFacts(twice @ twice.T).triangular_basis is None
    close = np.vstack([features[:19], features[:1] + 1e-5 * features[19:]])
    facts = GramFacts(close @ close.T)
    assert np.linalg.cholesky(facts.gram) is not None  # there is a factor, but of noise
    assert facts.orthonormal_basis().shape == (20, 19)
    assert facts.triangular_basis is None


@pytest.mark.parametrize("near_singular", [False, True])
def test_a_batch_in_its_own_coordinates_is_the_same_batch(near_singular):
    X = digits(90)
    points = np.vstack([X[:25], X[:1]]) if near_singular else X[:25]
    plain = LandmarkFrame(PointDictionary(Gaussian(gamma=GAMMA), points), X)
    assert plain.triangular is not near_singular
    batch = BatchFrame(plain, X)
    vectors, rows = plain.samples(np.arange(8)), np.array([60, 2])
    formulation = Everywhere(kc.KernelSparseCoder(alpha=0.05).formulation())
    found, truth = (code_all(one, vectors, formulation, Options()) for one in (batch, plain))
    assert_allclose(dense(found.codes), dense(truth.codes), atol=1e-10)
    assert_allclose(found.sums.moment, truth.sums.moment, atol=1e-10)
    assert_allclose(batch.samples(rows), plain.samples(rows), atol=1e-10)
    assert_allclose(batch.kernel_of(rows), plain.kernel_of(rows), atol=1e-10)
    assert_allclose(batch.sum_of(rows, rows), plain.sum_of(rows, rows), atol=1e-10)
    assert_allclose(batch.project(vectors[:, 0]), plain.project(vectors[:, 0]), atol=1e-10)
    assert_allclose(batch.outside(X[:3])[0], plain.outside(X[:3])[0], atol=1e-10)
    assert_allclose(batch.weights(vectors), plain.weights(vectors), atol=1e-10)


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_a_better_old_code_is_kept(form):
    problem = CodingProblem(np.ones(2), np.array([[0.9, 0.1], [0.1, 0.9]]), np.eye(2))
    new, old = np.array([[0.9, 0.0], [0.1, 0.0]]), np.array([[0.0, 0.1], [0.0, 0.9]])
    codes, errors = better(problem, form(new), problem.squared_error(new), form(old))
    codes = codes.toarray() if sparse.issparse(codes) else codes
    assert_array_equal(codes, [[0.9, 0.0], [0.0, 0.9]])
    assert_allclose(errors, problem.squared_error(codes))


# Landmarks -------------------------------------------------------------------------------------

CHOICES = ["random", "k-means++", "leverage"]


@pytest.mark.parametrize("how", CHOICES)
def test_landmarks_are_distinct_samples_and_repeat(how):
    X = digits(150)
    chosen = [
        choose_landmarks(Gaussian(gamma=GAMMA), X, 12, how, np.random.RandomState(seed))
        for seed in (0, 0, 1)
    ]
    assert_array_equal(chosen[0].index, chosen[1].index)
    assert not np.array_equal(chosen[0].index, chosen[2].index)
    assert len(np.unique(chosen[0].index)) == 12
    assert_array_equal(chosen[0].points, X[chosen[0].index])
    everyone = choose_landmarks(Gaussian(gamma=GAMMA), X, 500, how, np.random.RandomState(0))
    assert_array_equal(everyone.index, np.arange(150))


@pytest.mark.parametrize("how", CHOICES)
def test_landmarks_of_a_given_matrix_are_those_of_its_samples(how):
    X = digits(130)
    gram = rbf_kernel(X, gamma=GAMMA)
    by_points = choose_landmarks(Gaussian(gamma=GAMMA), X, 10, how, np.random.RandomState(3))
    by_matrix = choose_landmarks(
        Precomputed().resolve(gram), gram, 10, how, np.random.RandomState(3)
    )
    assert_array_equal(by_points.index, by_matrix.index)
    assert_allclose(by_points.gram, by_matrix.gram, atol=1e-12)


class Recorder:
    """Chooses the given pilot, and remembers with which probabilities it was asked next."""

    def __init__(self, pilot):
        self.pilot = pilot

    def choice(self, n, size, replace, p=None):
        if p is None:
            return self.pilot
        self.probabilities = p
        return np.argsort(-p)[:size]


def test_leverage_scores_with_all_samples_as_pilot():
    X = digits(40)
    recorder = Recorder(np.arange(40))
    leverage_choice(Candidates(Gaussian(gamma=GAMMA), X), 40, recorder)
    gram = rbf_kernel(X, gamma=GAMMA)
    ridge = np.trace(gram) / 40
    scores = np.diag(gram @ np.linalg.inv(gram + ridge * np.eye(40)))
    assert_allclose(recorder.probabilities, scores / scores.sum(), rtol=1e-6)


def test_leverage_scores_from_few_pilots_find_what_others_do_not_explain(rng):
    crowd, outliers = 0.05 * rng.normal(size=(90, 2)), rng.normal(size=(6, 2)) + 30.0
    X = np.vstack([crowd, outliers * np.arange(1, 7)[:, None]])
    recorder = Recorder(np.arange(10))  # all from the crowd
    chosen = leverage_choice(Candidates(Gaussian(gamma=1.0), X), 10, recorder)
    assert set(range(90, 96)) <= set(chosen)
    assert_allclose(recorder.probabilities.sum(), 1.0)


def test_all_samples_as_landmarks_give_the_exact_case():
    X, kernel = digits(60), Gaussian(gamma=GAMMA)
    coder = kc.KernelSparseCoder(kernel=kernel, alpha=0.02)
    fixed = {"n_atoms": 10, "max_iter": 5, "tol": 0}
    given = kc.KernelDictionaryLearning(coder, landmarks=X, **fixed).fit(X)
    exact = kc.KernelDictionaryLearning(coder, **fixed).fit(X)
    assert_allclose(given.objective_history_, exact.objective_history_, rtol=1e-6)
    for how in CHOICES:
        # The same numbers for the first atoms, once the landmarks have taken theirs.
        random_state = np.random.RandomState(0)
        choose_landmarks(kernel, X, 60, how, random_state)
        exact = kc.KernelDictionaryLearning(coder, random_state=random_state, **fixed).fit(X)
        chosen = kc.KernelDictionaryLearning(coder, n_landmarks=60, landmarks=how, **fixed).fit(X)
        assert_allclose(chosen.objective_history_, exact.objective_history_, rtol=1e-6)


# First atoms -----------------------------------------------------------------------------------


def test_classes_share_atoms_as_far_as_samples_allow():
    y = np.repeat(["a", "b", "c"], [2, 50, 50])
    given = {y[rows[0]]: count for rows, count in shares(y, 30)}
    assert given == {"a": 2, "b": 14, "c": 14}
    assert [count for _, count in shares(y, 102)] == [2, 50, 50]
    assert [count for _, count in shares(y, 2)] == [1, 1]


@pytest.mark.parametrize("init", ["random", "k-means++", "kernel-k-means"])
@pytest.mark.parametrize("precomputed", [False, True])
def test_each_class_has_its_share_of_first_atoms(init, precomputed):
    X, y = digits(100, labels=True)
    candidates = Candidates(Gaussian(gamma=GAMMA), X)
    if precomputed:
        candidates = KnownCandidates(rbf_kernel(X, gamma=GAMMA))
    loads = initial_loads(candidates, 20, init, np.random.RandomState(0), y).toarray()
    owners = [np.unique(y[np.flatnonzero(column)]) for column in loads.T]
    assert all(len(owner) == 1 for owner in owners)  # no atom mixes classes
    assert_array_equal(np.bincount(np.concatenate(owners)), 2)
    assert_allclose(loads.sum(axis=0), 1.0)
    # Fewer atoms than classes: some classes go without.
    for few in (1, 3):
        loads = initial_loads(candidates, few, init, np.random.RandomState(0), y).toarray()
        assert_allclose(loads.sum(axis=0), 1.0)
        assert len({y[row] for row in np.nonzero(loads)[0]}) == few


# Dead atoms and twins --------------------------------------------------------------------------


def test_twins_are_found_by_distance_and_sign():
    atoms = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1e-4], [0.0, -1.0]])
    gram, usage = atoms @ atoms.T, np.array([1.0, 5.0, 2.0, 3.0])
    assert refresh.twins(gram, usage, signed=False) == [(2, 0, 1.0)]
    assert refresh.twins(gram, usage, signed=True) == [(2, 0, 1.0), (1, 3, -1.0)]


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_merged_codes_reconstruct_the_same(form, rng):
    atoms = rng.normal(size=(4, 3))
    atoms[2], atoms[3] = atoms[0], -atoms[1]
    codes = rng.normal(size=(6, 4))
    merged = refresh.merge(form(codes), [(0, 2, 1.0), (1, 3, -1.0)])
    merged = merged.toarray() if sparse.issparse(merged) else merged
    assert_array_equal(merged[:, 2:], 0.0)
    assert_allclose(merged @ atoms, codes @ atoms)


def learner_of(X, loads, coder):
    """A learner with the linear kernel and the given first atoms."""
    frame = frame_of(Linear(), X, None)
    vectors = np.asfortranarray(frame.combine(loads))
    formulation = coder.formulation()
    update = update_for("coordinate", formulation)
    return AtomLearner(frame, vectors, formulation, Options(), update)


def test_an_atom_without_users_becomes_the_worst_represented_sample(rng):
    X = rng.uniform(0.1, 1.0, size=(30, 4))
    loads = np.zeros((30, 3))
    loads[0, 0], loads[1, 1], loads[2, 2] = 1.0, 1.0, -1.0  # the last points away from all
    learner = learner_of(X, loads, kc.KernelSparseCoder(alpha=0.01, positive=True))
    learner.code()
    assert_array_equal(learner.coded.usage == 0, [False, False, True])
    missed = X - dense(learner.now.codes) @ (learner.frame.weights(learner.now.vectors).T @ X)
    worst = X[np.sum(missed**2, axis=1).argmax()]
    history = [learner.objective, learner.improve(), learner.code()]
    assert learner.n_replaced == 1
    atoms = learner.frame.weights(learner.now.vectors).T @ X
    assert_allclose(atoms[2], worst / np.linalg.norm(worst))
    assert learner.coded.usage.min() > 0
    assert never_rises(history)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    "coder", [kc.KernelSparseCoder(alpha=0.05), kc.KernelMatchingPursuit(n_nonzero=2)], ids=repr
)
def test_a_twin_gives_way(coder, sign, rng):
    X = rng.normal(size=(40, 5))
    loads = np.zeros((40, 4))
    loads[[0, 1, 2], [0, 1, 2]] = 1.0
    loads[0, 3] = sign
    learner = learner_of(X, loads, coder)
    learner.code()
    codes = dense(learner.now.codes)
    # Both twins in use: the code of one is spread over two.
    spread = codes.copy()
    spread[:, 3], spread[:, 0] = 0.4 * sign * codes[:, 0], 0.6 * codes[:, 0]
    atoms = learner.frame.weights(learner.now.vectors).T @ X
    learner.now = replace(learner.now, codes=spread)
    learner._coded = replace(learner.coded, codes=spread, usage=count_users(spread))
    assert_allclose(error(X, atoms, spread), error(X, atoms, codes))
    history = [learner.objective, learner.improve(), learner.code(), learner.improve()]
    assert learner.n_replaced >= 1
    assert never_rises(history)
    gram = learner.frame.gram(learner.now.vectors)
    assert np.abs(gram - np.eye(4)).max() < 0.999


COPIED = [
    kc.KernelSparseCoder(alpha=0.02),
    kc.KernelMatchingPursuit(n_nonzero=3),
    kc.KernelBagOfWords(assignment="hard"),
    kc.KernelBagOfWords(),
    kc.KernelLCC(alpha=0.05),
    kc.KernelCoder(alpha=0.02),
]


@pytest.mark.parametrize("n_landmarks", [None, 40])
@pytest.mark.parametrize("coder", COPIED, ids=repr)
def test_copies_among_the_first_atoms_are_replaced(coder, n_landmarks):
    X = np.vstack([np.repeat(digits(1), 50, axis=0), digits(60)[1:]])
    coder = clone(coder).set_params(kernel=Gaussian(gamma=GAMMA))
    dl = kc.KernelDictionaryLearning(coder, 12, n_landmarks, init="random", max_iter=6, tol=0)
    dl.fit(X)
    assert dl.n_replaced_ >= 1
    assert never_rises(dl.objective_history_)
    gram = dl.dictionary_.gram
    distances = np.diag(gram) + np.diag(gram)[:, None] - 2 * gram
    assert distances[np.triu_indices(12, 1)].min() > 1e-4


def test_no_atom_is_replaced_where_all_is_represented(rng):
    X = rng.normal(size=(5, 3))
    frame = frame_of(Linear(), X, None)
    vectors = frame.samples(np.arange(3))
    kept, replaced = refresh.replace_atoms(
        frame, vectors, np.array([1]), Worst.of(np.zeros(5), 5), True
    )
    assert replaced.size == 0
    assert_array_equal(kept, vectors)
