"""The residual rule of dictionaries that were learned from samples of Dask."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kernelcoding as kc
from kernelcoding.dictionary_learning.frames import landmarks as landmark_frames

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

N = 600
CHUNKS = (100, 50, 0, 1, 149, 300)
NAMES = np.array(["blue", "green", "red"])


@pytest.fixture(autouse=True)
def in_passes(monkeypatch):
    """Samples in memory are visited in passes, too: none is kept, whatever their number."""
    monkeypatch.setattr(landmark_frames, "KEPT", 0)
    with dask.config.set(scheduler="threads"):
        yield


def data(n=N):
    rng = np.random.default_rng(5)
    X, numbers = rng.normal(size=(n, 6)), rng.integers(3, size=n)
    X[:, 0] += 3.0 * numbers
    return X, NAMES[numbers]


def lazy(X, chunks=CHUNKS):
    return da.from_array(X, chunks=(chunks, *X.shape[1:]))


def classifier(**settings):
    settings = {"n_atoms": 12, "n_landmarks": 40, "max_iter": 2, **settings}
    coder = kc.KernelSparseCoder(alpha=0.05)
    return kc.ResidualClassifier(kc.KernelDictionaryLearning(coder, **settings))


@pytest.mark.parametrize("chunks", [None, CHUNKS, (300, 300)], ids=["array", "same", "other"])
def test_it_is_the_classifier_of_samples_in_memory(chunks):
    X, y = data()
    Q = data(2 * N)[0][N:]
    near = classifier().fit(X, y)
    far = classifier().fit(lazy(X), y if chunks is None else lazy(y, chunks))
    index = far.coder_.dictionary_.landmarks.index
    assert_array_equal(far.classes_[far.landmark_classes_], y[index])
    assert_array_equal(far.landmark_classes_, near.landmark_classes_)
    assert_allclose(far.decision_function(Q), near.decision_function(Q), atol=1e-9)
    assert_allclose(far.predict_proba(Q), near.predict_proba(Q), atol=1e-7)
    assert_array_equal(far.predict(Q), near.predict(Q))
    assert near.score(X, y) > 0.8


def test_only_landmarks_pools_and_the_calibration_are_fetched(monkeypatch):
    from kernelcoding.distributed.samples import DaskSamples

    fetched = []
    rows_of = DaskSamples._fetched

    def counted(samples, rows):
        fetched.append(len(rows))
        return rows_of(samples, rows)

    monkeypatch.setattr(DaskSamples, "_fetched", counted)
    X, y = data(5000)
    model = classifier(n_landmarks=20, n_atoms=8, max_iter=1).fit(lazy(X, (2500, 2500)), y)
    assert len(model._calibration.samples) == 200
    # 1000 measure the kernel, 2000 are looked at for first atoms, 200 for landmarks.
    assert sum(fetched) <= 1000 + 2000 + 200 + 200 + 100
    assert len(pickle.dumps(model)) < 2**17  # nothing of the samples


def test_lengths_are_counted_once():
    X, y = data()
    blocks = [dask.delayed(part) for part in np.split(X, np.cumsum(CHUNKS)[:-1])]
    with pytest.warns(UserWarning, match="lengths .* are counted") as told:
        far = classifier().fit(blocks, y)
    assert len(told) == 1
    assert_array_equal(far.landmark_classes_, classifier().fit(X, y).landmark_classes_)


def test_names_of_features_are_kept():
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, y = data()
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdef")), npartitions=3)
    with pytest.warns(UserWarning, match="lengths .* are counted"):
        model = classifier().fit(frame, y)
    assert_array_equal(model.feature_names_in_, list("abcdef"))


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_landmarks": None}, "all samples squared"),
        ({"per_class": True}, "Use per_class=False"),
    ],
    ids=str,
)
def test_dictionaries_that_need_all_samples_are_refused(settings, match):
    X, y = data()
    with pytest.raises(ValueError, match=match):
        classifier(**settings).fit(lazy(X), y)


def test_labels_must_be_as_many_as_samples():
    X, y = data()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier().fit(lazy(X), y[:-1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        classifier().fit(lazy(X), None)
    with pytest.raises(ValueError, match=r"ResidualClassifier.fit compares .*n_landmarks"):
        kc.ResidualClassifier(kc.KernelLLC()).fit(lazy(X), y)
