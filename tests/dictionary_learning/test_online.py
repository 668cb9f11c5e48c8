"""Batches, iterators, memory-mapped samples, and samples too many to keep."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import kernelcoding as kc
from helpers.learning import digits, never_rises
from kernelcoding.dictionary.candidates import Candidates
from kernelcoding.dictionary.choosing import spread_choice
from kernelcoding.dictionary_learning.frames import landmarks as landmark_frames
from kernelcoding.kernels import Gaussian, Linear

KERNEL = Gaussian(gamma=1.5)
CODERS = {
    "kSC": kc.KernelSparseCoder(KERNEL, alpha=0.03),
    "omp": kc.KernelMatchingPursuit(KERNEL, n_nonzero=3),
    "hard": kc.KernelBagOfWords(KERNEL, assignment="hard"),
    "LCC": kc.KernelLCC(KERNEL, alpha=0.05),
    "simplex": kc.KernelCoder(KERNEL, alpha=0.03),
    "exact LLC": kc.KernelLLC(KERNEL, n_neighbors=None),
    "soft": kc.KernelBagOfWords(KERNEL),
    "very soft": kc.KernelBagOfWords(KERNEL, sigma=1.0),
}
EVERY_CODER = pytest.mark.parametrize("coder", CODERS.values(), ids=CODERS.keys())


def learning(coder="kSC", n_atoms=12, n_landmarks=40, **parameters):
    coder = clone(CODERS[coder]) if isinstance(coder, str) else clone(coder)
    return kc.KernelDictionaryLearning(coder, n_atoms, n_landmarks, **parameters)


def batches(X, size):
    return [X[start : start + size] for start in range(0, len(X), size)]


def after(dl, parts):
    """The estimator after these batches."""
    for part in parts:
        dl.partial_fit(part)
    return dl


# Batches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kSC", "omp", "hard"])
def test_epochs_of_batches_reach_the_batch_objective(name):
    X = digits(400)
    whole = learning(name, 20, 150, max_iter=20).fit(X)
    landmarks = whole.dictionary_.landmarks.points
    online = learning(name, 20, 150, landmarks=landmarks, forgetting=0.9)
    after(online, batches(X, 50) * 8)
    assert -online.score(X) < 1.02 * -whole.score(X)
    assert online.n_iter_ == len(online.objective_history_) == 64
    assert online.status_ == "online"


@pytest.mark.parametrize("forgetting", [1.0, 0.5])
def test_hard_words_of_the_linear_kernel_are_online_k_means(forgetting, rng):
    centres = 6.0 * rng.normal(size=(4, 3))
    X = centres[rng.integers(4, size=160)] + rng.normal(size=(160, 3))
    parts = batches(X, 40)
    coder = kc.KernelBagOfWords("linear", assignment="hard")
    dl = after(learning(coder, 4, None, forgetting=forgetting), parts)
    atoms = parts[0][spread_choice(Candidates(Linear(), parts[0]), 4, np.random.RandomState(0))]
    totals, counts, history = np.zeros((4, 3)), np.zeros(4), []
    for part in parts:
        distances = ((part[:, None] - atoms) ** 2).sum(axis=2)
        history.append(0.5 * distances.min(axis=1).mean())
        nearest = np.eye(4)[distances.argmin(axis=1)]
        totals, counts = (
            forgetting * totals + nearest.T @ part,
            forgetting * counts + nearest.sum(0),
        )
        atoms = totals / counts[:, None]
    assert_allclose(dl.preimages(), atoms, atol=1e-8)
    assert_allclose(dl.objective_history_, history, rtol=1e-8)
    assert dl.n_replaced_ == 0


def test_a_short_memory_follows_the_data(rng):
    first, second = rng.normal(size=(120, 3)) + 4.0, rng.normal(size=(120, 3)) - 4.0
    coder = kc.KernelSparseCoder(Gaussian(gamma=0.05), alpha=0.05)
    stream = [np.vstack([first[:20], second[:20]])] + batches(first, 30) * 3 + batches(second, 30)
    long, short = (
        after(learning(coder, 6, 40, forgetting=forgetting), stream) for forgetting in (1.0, 0.2)
    )
    assert short.score(second) > long.score(second)


@EVERY_CODER
def test_batches_improve_the_first_dictionary(coder):
    X = digits(200)
    dl = learning(coder).partial_fit(X)
    start = dl.objective_history_[0]
    after(dl, [X] * 5)
    assert -dl.score(X) < 0.9 * start


@EVERY_CODER
@pytest.mark.parametrize("n_landmarks", [None, 40])
def test_batches_go_on_where_fit_ended(coder, n_landmarks):
    X = digits(120)
    dl = learning(coder, n_landmarks=n_landmarks, max_iter=4).fit(X)
    fitted = -dl.score(X)
    n_iter = dl.n_iter_
    dl.partial_fit(X)
    assert_allclose(dl.objective_history_[-1], fitted, rtol=1e-9)
    assert dl.n_iter_ == n_iter + 1
    assert -dl.score(X) <= fitted * (1 + 1e-9)


def test_nothing_grows_with_the_number_of_batches():
    X = digits(300)
    dl = learning().partial_fit(X[:100])
    sizes = []
    for part in batches(X[100:], 50):
        dl.partial_fit(part)
        dl.objective_history_ = dl.objective_history_[:1]
        sizes.append(len(pickle.dumps(dl)))
    assert max(sizes) - min(sizes) < 100


def test_a_fitted_estimator_keeps_landmarks_not_samples():
    small, large = (len(pickle.dumps(learning(max_iter=2).fit(digits(n)))) for n in (100, 500))
    assert large < 1.2 * small


def test_a_thawed_estimator_goes_on():
    X = digits(150)
    dl = learning().partial_fit(X[:100])
    thawed = pickle.loads(pickle.dumps(dl))
    for each in (dl, thawed):
        each.partial_fit(X[100:])
    assert_array_equal(thawed.dictionary_.weights, dl.dictionary_.weights)


def test_batches_repeat_whatever_the_number_of_threads():
    parts = batches(digits(160), 40)
    one, two = (after(learning(n_jobs=jobs), parts) for jobs in (1, 2))
    assert_array_equal(one.dictionary_.weights, two.dictionary_.weights)
    other = after(learning(random_state=1), parts)
    assert not np.array_equal(one.dictionary_.weights, other.dictionary_.weights)


def test_batches_of_float32_and_of_few_samples():
    X = digits(100).astype(np.float32)
    dl = after(learning(), [X[:60], X[60:61], X[61:]])
    assert dl.transform(X).dtype == np.float32
    assert dl.n_iter_ == 3


def test_an_atom_no_batch_uses_is_replaced_and_counted(rng):
    X = rng.normal(size=(40, 4))
    X[::4] = 0.0
    coder = kc.KernelSparseCoder("linear", alpha=0.1)
    dl = learning(coder, 35, None, init="random").partial_fit(X)
    assert dl.n_replaced_ >= 5  # at least five of the first atoms were zero
    assert_allclose(np.linalg.norm(dl.preimages(), axis=1), 1.0)


def test_the_first_batch_balances_classes():
    X, y = digits(100, labels=True)
    coder = kc.KernelBagOfWords(KERNEL, assignment="hard")
    with_labels = learning(coder, 10, None).partial_fit(X, y)
    without = learning(coder, 10, None).partial_fit(X)
    assert not np.array_equal(with_labels.dictionary_.weights, without.dictionary_.weights)


# Iterators and files ---------------------------------------------------------------------------


def test_an_iterator_is_read_as_batches():
    X = digits(200)
    by_hand = after(learning(), batches(X, 50))
    by_iterator = learning().fit(iter(batches(X, 50)))
    assert_array_equal(by_iterator.dictionary_.weights, by_hand.dictionary_.weights)
    assert_array_equal(by_iterator.objective_history_, by_hand.objective_history_)
    # A second fit begins anew, also with other features.
    by_iterator.fit(part[:, :20] for part in batches(X, 50))
    assert by_iterator.n_features_in_ == 20
    assert by_iterator.n_iter_ == 4
    assert_array_equal(
        by_iterator.fit(iter(batches(X, 50))).dictionary_.weights, by_hand.dictionary_.weights
    )


@pytest.mark.parametrize("method", ["partial_fit", "fit"])
def test_a_first_batch_smaller_than_the_dictionary_is_named(method):
    X = digits(30)
    parts = X[:10] if method == "partial_fit" else iter(batches(X, 10))
    sentence = "n_atoms=12 must be at most the number of training samples in the first batch, "
    with pytest.raises(ValueError, match=sentence + "n_samples=10"):
        getattr(learning(), method)(parts)


@pytest.fixture
def mapped(tmp_path):
    """Samples in a file, opened for reading only."""
    X = digits(150)
    np.save(tmp_path / "samples.npy", X)
    return X, np.load(tmp_path / "samples.npy", mmap_mode="r")


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("n_landmarks", [None, 40])
def test_memory_mapped_samples_give_the_same(mapped, n_landmarks, kept, monkeypatch):
    monkeypatch.setattr(landmark_frames, "KEPT", 2**25 if kept else 0)
    X, file = mapped
    plain, lazy = (
        learning(n_landmarks=n_landmarks, max_iter=4, tol=0).fit(each) for each in (X, file)
    )
    assert_array_equal(lazy.dictionary_.weights, plain.dictionary_.weights)
    assert_array_equal(lazy.objective_history_, plain.objective_history_)
    assert_array_equal(lazy.transform(file), plain.transform(X))


def test_batches_of_a_file_give_the_same(mapped):
    X, file = mapped
    plain, lazy = (learning().fit(iter(batches(each, 50))) for each in (X, file))
    assert_array_equal(lazy.dictionary_.weights, plain.dictionary_.weights)


# Samples too many to keep ----------------------------------------------------------------------


@EVERY_CODER
def test_passes_over_samples_never_raise_the_objective(coder, monkeypatch):
    X = digits(200)
    kept = learning(coder, max_iter=8, tol=0).fit(X)
    monkeypatch.setattr(landmark_frames, "KEPT", 0)
    monkeypatch.setattr(landmark_frames, "BLOCK", 2**11)
    passing = learning(coder, max_iter=8, tol=0).fit(X)
    history = passing.objective_history_
    if not isinstance(coder, kc.KernelMatchingPursuit):  # no earlier code is there to fall back on
        assert never_rises(history)
    assert_allclose(-passing.score(X), history[::2].min(), rtol=1e-9)
    assert_allclose(history[0], kept.objective_history_[0], rtol=1e-9)
    assert -passing.score(X) < 1.05 * -kept.score(X)


@pytest.mark.parametrize("update", ["ksvd", "aksvd"])
def test_ksvd_needs_its_samples(update, monkeypatch):
    monkeypatch.setattr(landmark_frames, "KEPT", 0)
    with pytest.raises(ValueError, match="needs all similarities in memory"):
        learning("omp", update=update).fit(digits(100))
