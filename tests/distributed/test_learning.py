"""Dictionaries learned from samples of Dask: those of the same samples in memory."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import kernelcoding as kc
from kernelcoding.dictionary_learning.frames import landmarks as landmark_frames
from kernelcoding.dictionary_learning.half_steps import refresh
from kernelcoding.sparse_vectors import SparseVectors

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

N = 600
CHUNKS = (100, 50, 0, 1, 149, 300)
CODERS = [
    kc.KernelSparseCoder(alpha=0.05),
    kc.KernelSparseCoder(alpha=0.05, positive=True),
    kc.KernelLCC(alpha=0.05),
    kc.KernelLLC(n_neighbors=4),
    kc.KernelMatchingPursuit(n_nonzero=2),
    kc.KernelBagOfWords(),
    kc.KernelBagOfWords(assignment="soft", sigma=0.5),
]


@pytest.fixture(autouse=True)
def in_passes(monkeypatch):
    """Samples in memory are visited in passes, too: none is kept, whatever their number."""
    monkeypatch.setattr(landmark_frames, "KEPT", 0)
    with dask.config.set(scheduler="synchronous"):
        yield


def data(n=N, features=6):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, features))
    X[:, 0] += 4.0 * (np.arange(n) % 3)
    return X


def lazy(X, chunks=CHUNKS):
    return da.from_array(X, chunks=(chunks, *X.shape[1:]))


def learning(coder=None, **settings):
    settings = {"n_atoms": 12, "n_landmarks": 40, "max_iter": 3, **settings}
    return kc.KernelDictionaryLearning(coder or kc.KernelSparseCoder(alpha=0.05), **settings)


def assert_same(far, near, X, tol=1e-12):
    assert_array_equal(far.dictionary_.landmarks.index, near.dictionary_.landmarks.index)
    assert_allclose(far.objective_history_, near.objective_history_, rtol=tol)
    assert_allclose(far.transform(X[:50]), near.transform(X[:50]), atol=1e-9)
    assert far.n_replaced_ == near.n_replaced_
    assert far.status_ == near.status_


@pytest.mark.parametrize("coder", CODERS, ids=repr)
def test_every_coder_learns_what_it_learns_in_memory(coder):
    X = data()
    assert_same(learning(coder).fit(lazy(X)), learning(coder).fit(X), X)


def test_sparse_blocks_are_learned_from_as_sparse_samples_in_memory():
    X = np.abs(data())
    X[X < 1.0] = 0.0
    rows, coder = sparse.csr_array(X), kc.KernelSparseCoder("chi2", alpha=0.05)
    blocks = [dask.delayed(rows[a:b]) for a, b in ((0, 100), (100, 350), (350, N))]
    with pytest.warns(UserWarning, match="lengths of the 3 blocks"):
        far = learning(coder).fit(blocks)
    assert isinstance(far.dictionary_.landmarks.points, SparseVectors)
    assert_same(far, learning(coder).fit(rows), rows)
    assert_allclose(far.transform(blocks).compute(), far.transform(X), atol=1e-9)


@pytest.mark.parametrize("landmarks", ["random", "k-means++", "leverage", "greedy"])
@pytest.mark.parametrize("update", ["auto", "pinv", "coordinate"])
def test_landmarks_and_updates_are_those_in_memory(landmarks, update):
    X = data()
    settings = {"landmarks": landmarks, "update": update, "init": "kernel-k-means"}
    assert_same(learning(**settings).fit(lazy(X)), learning(**settings).fit(X), X)


def test_landmarks_of_a_pool_are_those_in_memory():
    X = data(3000)
    settings = {"n_landmarks": 20, "n_atoms": 8, "max_iter": 1}  # pools of 200 and 2000
    far = learning(**settings).fit(lazy(X, (1000, 1, 1999)))
    assert_same(far, learning(**settings).fit(X), X)


def test_given_landmarks_weights_and_labels():
    X, weight = data(), np.random.default_rng(0).uniform(size=N)
    weight[::5] = 0.0
    y = np.arange(N) % 3
    near = learning(landmarks=X[:30], n_landmarks=None).fit(X, y, sample_weight=weight)
    for labels, weights in [(y, weight), (lazy(y), lazy(weight))]:
        far = learning(landmarks=X[:30], n_landmarks=None).fit(
            lazy(X), labels, sample_weight=weights
        )
        assert far.dictionary_.landmarks.index is None
        assert_allclose(far.objective_history_, near.objective_history_, rtol=1e-12)
        assert_allclose(far.transform(X[:50]), near.transform(X[:50]), atol=1e-9)


def test_atoms_without_users_become_the_worst_samples(monkeypatch):
    """Two atoms are said to have none: only copies have none by themselves, and of these it is a
    last bit that says which.
    """
    monkeypatch.setattr(refresh, "unused", lambda usage: np.array([3, 8]))
    X, settings = data(), {"init": "random", "random_state": 3}
    near = learning(**settings).fit(X)
    assert near.n_replaced_ >= 2
    assert_same(learning(**settings).fit(lazy(X)), near, X)


@pytest.mark.parametrize("chunks", [(600,), (1, 598, 1), (0, 300, 0, 300, 0), (60,) * 10])
def test_other_blocks_change_the_last_places_only(chunks):
    X = data()
    assert_same(learning().fit(lazy(X, chunks)), learning().fit(lazy(X)), X)


def test_equal_blocks_give_equal_bits_on_every_scheduler_in_this_process():
    X = data()
    found = []
    for scheduler in ("synchronous", "threads", "threads"):
        with dask.config.set(scheduler=scheduler):
            found.append(learning().fit(lazy(X)))
    for other in found[1:]:
        assert_array_equal(other.dictionary_.weights, found[0].dictionary_.weights)
        assert_array_equal(other.objective_history_, found[0].objective_history_)


def test_unknown_lengths_and_delayed_blocks():
    X = data()
    known = learning().fit(lazy(X))
    masked = lazy(X)[lazy(np.ones(N, dtype=bool))]
    blocks = [dask.delayed(part) for part in np.split(X, np.cumsum(CHUNKS)[:-1])]
    for given in (masked, blocks):
        with pytest.warns(UserWarning, match="lengths .* are counted"):
            far = learning().fit(given)
        assert_array_equal(far.dictionary_.weights, known.dictionary_.weights)


def test_data_frames_keep_their_names():
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(data(), columns=list("abcdef"))
    with pytest.warns(UserWarning, match="lengths .* are counted"):
        far = learning().fit(dd.from_pandas(frame, npartitions=4))
    assert_array_equal(far.feature_names_in_, list("abcdef"))
    assert_same(far, learning().fit(frame), frame)


def test_stacks_of_matrices_and_single_precision():
    factors = np.random.default_rng(1).normal(size=(200, 3, 6))
    X = factors @ factors.transpose(0, 2, 1)
    coder = kc.KernelSparseCoder("log-euclidean", alpha=0.05)
    assert_same(learning(coder).fit(lazy(X, (80, 120))), learning(coder).fit(X), X)
    single = data().astype(np.float32)
    far = learning().fit(lazy(single))
    assert far.transform(single).dtype == np.float32
    near = learning().fit(single)
    assert_allclose(far.objective_history_, near.objective_history_, rtol=1e-5)


def test_small_blocks_are_joined_where_answers_are_large():
    from kernelcoding.distributed.samples import DaskSamples

    X = DaskSamples(lazy(data(), (60,) * 10))  # 2880 bytes each
    assert [len(group) for group in X._groups(1)] == [1] * 10
    assert [len(group) for group in X._groups(8000)] == [3, 3, 3, 1]
    assert [len(group) for group in X._groups(10**9)] == [10]


def test_rows_are_fetched_by_one_task_per_touched_block():
    from kernelcoding.distributed.samples import DaskSamples

    seen = []

    def block(number):
        seen.append(number)
        return X[100 * number : 100 * number + 100]

    X = data(400)
    blocks = [dask.delayed(block)(number) for number in range(4)]
    with pytest.warns(UserWarning, match="are counted"):
        far = DaskSamples(blocks)
    seen.clear()
    rows = np.array([350, 7, 399, 7])
    assert_array_equal(far[rows], X[rows])
    assert sorted(seen) == [0, 3]
    assert_array_equal(far[np.array([7, 399])], X[[7, 399]])  # known by now
    assert sorted(seen) == [0, 3]


def test_kernels_are_measured_and_learned_on_drawn_samples(monkeypatch):
    from kernelcoding.dictionary_learning import far as drawing

    X = data(2500)
    far, near = learning(max_iter=1).fit(lazy(X, (2000, 500))), learning(max_iter=1).fit(X)
    assert far.kernel_.gamma == near.kernel_.gamma  # the median of 1000 evenly spaced ones
    monkeypatch.setattr(drawing, "FOLLOWED", 800)
    far = learning(max_iter=1, learn_kernel=True).fit(lazy(X, (2000, 500)))
    near = learning(max_iter=1, learn_kernel=True).fit(X)
    assert far.kernel_history_[-1] < far.kernel_history_[0]
    assert_allclose(np.log(far.kernel_.gamma), np.log(near.kernel_.gamma), atol=0.5)


def test_what_was_learned_is_local_and_learns_on():
    X = data()
    far = learning().fit(lazy(X))
    near = learning().fit(X)
    assert_allclose(far.transform(X), near.transform(X), atol=1e-9)
    far.partial_fit(X[:100])
    near.partial_fit(X[:100])
    assert_allclose(far.transform(X), near.transform(X), atol=1e-8)


# What is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_landmarks": None}, r"all samples squared\. Use n_landmarks=2000"),
        ({"update": "points"}, r'codes of all samples\. Use update="auto"'),
        ({"per_class": True}, "Use per_class=False"),
        (
            {"coder": kc.KernelMatchingPursuit(), "update": "ksvd"},
            r'update=\'ksvd\' changes the codes of all samples\. Use update="auto"',
        ),
        ({"coder": kc.KernelSparseCoder("precomputed")}, "a precomputed kernel needs all"),
    ],
    ids=str,
)
def test_what_needs_all_samples_is_refused(settings, match):
    with pytest.raises(ValueError, match=match):
        learning(**settings).fit(lazy(data()), np.arange(N) % 3)


def test_blocks_with_faults_are_named():
    X = data()
    X[155, 2] = np.nan
    with pytest.raises(ValueError, match=r"block of X that begins at row 151: .*contains NaN"):
        learning().fit(lazy(X))
    blocks = [dask.delayed(part) for part in (data(100), data(100, 5))]
    with (
        pytest.warns(UserWarning, match="are counted"),
        pytest.raises(ValueError, match=r"begins at row 100: samples have the shape \(5,\)"),
    ):
        learning().fit(blocks)
    with pytest.raises(ValueError, match="all of its blocks are empty"):
        learning().fit(lazy(data()[:0], (0, 0)))
    with pytest.raises(ValueError, match="partial_fit learns from one batch in memory"):
        learning().partial_fit(lazy(data()))
    with pytest.raises(ValueError, match="n_atoms=700 must be at most"):
        learning(n_atoms=700, n_landmarks=700).fit(lazy(data()))


def test_codes_that_are_all_zero_are_refused_as_in_memory():
    with pytest.raises(ValueError, match="All codes are zero: alpha=9 is too large"):
        learning(kc.KernelSparseCoder(alpha=9.0)).fit(lazy(data()))
