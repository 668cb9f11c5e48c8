"""scikit-learn's pipelines on Dask input, and samples that never were in memory."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernelcoding as kc
from helpers.lazy_models import LENGTHS, assert_same_bits, at_equal_blocks, frame, lazy, vectors
from kernelcoding.distributed import apply, load, save

X, Y = vectors(30, 0)
Q = vectors(sum(LENGTHS), 1)[0]
CODER = kc.KernelSparseCoder(alpha=0.05, atoms=12)


@pytest.fixture(autouse=True)
def _threads():
    with dask.config.set(scheduler="threads"):
        yield


def test_pipelines_of_our_steps_are_lazy():
    steps = make_pipeline(kc.LandmarkMap(n_landmarks=8), kc.KernelSparseCoder("linear", atoms=9))
    codes = steps.fit(X).transform(lazy(Q))
    assert isinstance(codes, da.Array)
    assert codes.chunks == (LENGTHS, (9,))
    assert_same_bits(codes.compute(), at_equal_blocks(steps.transform, Q))
    classify = make_pipeline(
        kc.LandmarkMap(n_landmarks=8), kc.ResidualClassifier(kc.KernelLLC("linear", n_neighbors=4))
    )
    labels = classify.fit(X, Y).predict(lazy(Q))
    assert isinstance(labels, da.Array)
    assert_same_bits(labels.compute(), at_equal_blocks(classify.predict, Q))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
@pytest.mark.parametrize("kind", ["array", "frame"])
def test_pipelines_with_other_steps_go_to_the_blocks(method, kind):
    made = (lambda rows: rows) if kind == "array" else frame
    pipeline = make_pipeline(StandardScaler(), CODER, LogisticRegression()).fit(made(X), Y)
    ask = getattr(pipeline, method)
    found = apply(pipeline, method, lazy(made(Q)), like=ask(made(Q[:2])))
    assert found.numblocks[0] == len(LENGTHS)
    assert_same_bits(found.compute(), at_equal_blocks(ask, made(Q)))


def test_codes_of_other_transformers_are_declared_by_an_example():
    pipeline = make_pipeline(PCA(2), kc.KernelSparseCoder(sparse_output=True)).fit(X)
    found = apply(pipeline, "transform", lazy(Q), like=pipeline.transform(Q[:2]))
    assert found.shape == (len(Q), 30)
    assert_same_bits(found.compute(), at_equal_blocks(pipeline.transform, Q))


def test_the_mean_accuracy_of_lazy_labels_is_a_number():
    model = kc.ResidualClassifier(kc.KernelLLC()).fit(X, Y)
    assert model.score(lazy(Q), np.arange(len(Q)) % 3) == model.score(Q, np.arange(len(Q)) % 3)


# Out of core: the threaded scheduler reads block by block -----------------------------------------


def test_zarr_to_files_of_codes(tmp_path):
    pytest.importorskip("zarr")
    da.from_array(Q, chunks=(4, -1)).to_zarr(str(tmp_path / "samples.zarr"))
    samples = da.from_zarr(str(tmp_path / "samples.zarr"))
    coder = kc.KernelSparseCoder(alpha=0.05, sparse_output=True).fit(samples[:8].compute())
    save(coder.transform(samples), tmp_path / "codes")
    lengths = samples.chunks[0]
    assert lengths == (4, 4, 4, 3)
    expected = at_equal_blocks(coder.transform, Q, lengths=lengths)
    assert_same_bits(load(tmp_path / "codes").compute(), expected)
    again = coder.transform(da.from_zarr(str(tmp_path / "samples.zarr")))
    save(again, tmp_path / "codes")  # another run finds everything there


def test_parquet_keeps_the_names_of_features(tmp_path):
    pytest.importorskip("pyarrow")
    table = frame(Q)
    for number, rows in enumerate(np.split(np.arange(len(Q)), [6, 7])):
        table.iloc[rows].to_parquet(tmp_path / f"part-{number}.parquet")
    model = kc.KernelDictionaryLearning(n_atoms=5, n_landmarks=10, max_iter=2).fit(frame(X))
    lazily = dd.read_parquet(tmp_path)
    found = model.transform(lazily)
    assert found.numblocks == (3, 1)
    np.testing.assert_allclose(found.compute(), model.transform(table), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="Feature names"):
        model.transform(lazily.rename(columns={"feature 0": "other"}))


def test_memory_maps_are_read_in_blocks(tmp_path):
    np.save(tmp_path / "samples.npy", Q)
    mapped = np.load(tmp_path / "samples.npy", mmap_mode="r")
    model = CODER.fit(X)
    found = model.transform(da.from_array(mapped, chunks=(4, -1)))
    assert_same_bits(found.compute(), at_equal_blocks(model.transform, Q, lengths=(4, 4, 4, 3)))
