"""What Dask holds becomes blocks of rows, or is refused with a sentence."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from kernelcoding.distributed.inputs import blocks_of, holds_lazy, is_lazy, same_blocks


@pytest.fixture
def X(rng):
    return rng.normal(size=(11, 3))


def frame(X):
    return pd.DataFrame(X, columns=["a", "b", "c"])


def delayed(X, *cuts):
    return [dask.delayed(part) for part in np.split(X, cuts)]


def joined(blocks):
    return np.concatenate([np.asarray(block) for block in dask.compute(*blocks)])


def test_dask_collections_are_lazy_and_others_are_not(X):
    lazy = da.from_array(X, chunks=(4, 3))
    assert is_lazy(lazy)
    assert is_lazy(dd.from_pandas(frame(X), npartitions=2))
    assert is_lazy(delayed(X, 5))
    for given in (X, X.tolist(), frame(X), [], {"view": X}, None, "rbf", da.Array):
        assert not is_lazy(given)
        assert not holds_lazy(given)
    assert holds_lazy({"one": X, "two": lazy})
    assert holds_lazy((X, lazy))


def test_blocks_of_an_array_are_its_chunks_of_rows(X):
    found = blocks_of(da.from_array(X.astype(np.float32), chunks=((5, 0, 1, 5), 3)))
    assert found.lengths == (5, 0, 1, 5)
    assert found.n_rows == 11
    assert found.dtype == np.float32
    assert found.sample_shape == (3,)
    assert found.feature_names is None
    np.testing.assert_array_equal(joined(found.blocks), X.astype(np.float32))


def test_blocks_of_matrices_keep_their_shape(rng):
    stack = rng.normal(size=(6, 2, 2))
    found = blocks_of(da.from_array(stack, chunks=(4, 2, 2)))
    assert found.sample_shape == (2, 2)
    np.testing.assert_array_equal(joined(found.blocks), stack)


def test_a_data_frame_keeps_its_names_and_is_counted_once_with_a_warning(X):
    found = blocks_of(dd.from_pandas(frame(X), npartitions=3))
    assert found.feature_names == ("a", "b", "c")
    assert found.known_lengths is None
    with pytest.warns(UserWarning, match=r"3 blocks of X are unknown and are counted now"):
        lengths = found.lengths
    assert sum(lengths) == len(X)
    assert found.lengths is lengths
    assert list(dask.compute(*found.blocks)[0].columns) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (("float32", "float32"), np.float32),
        (("float32", "float64"), np.float64),
        (("float32", "object"), np.float64),
    ],
)
def test_precision_of_a_data_frame_is_that_of_its_columns(kinds, expected):
    columns = {str(i): pd.Series([1, 2], dtype=kind) for i, kind in enumerate(kinds)}
    assert blocks_of(dd.from_pandas(pd.DataFrame(columns), npartitions=1)).dtype == expected


def test_masked_arrays_and_delayed_blocks_are_counted(X):
    lazy = da.from_array(X, chunks=(4, 3))
    with pytest.warns(UserWarning, match="counted now"):
        assert blocks_of(lazy[lazy[:, 0] > 0]).n_rows == (X[:, 0] > 0).sum()
    with pytest.warns(UserWarning, match="counted now"):
        assert blocks_of(delayed(X, 4, 4)).lengths == (4, 0, 7)


def test_blocks_split_along_columns_are_refused(X):
    with pytest.raises(ValueError, match=r"X\.rechunk\(\{1: -1\}\)"):
        blocks_of(da.from_array(X, chunks=(4, 2)))
    with pytest.raises(ValueError, match=r"X\.rechunk\(\{1: -1, 2: -1\}\)"):
        blocks_of(da.ones((4, 2, 2), chunks=(4, 1, 2)))


def test_what_holds_no_samples_is_refused(X):
    with pytest.raises(ValueError, match=r"X\.reshape\(-1, 1\)"):
        blocks_of(da.ones(4))
    with pytest.raises(ValueError, match="list of delayed blocks"):
        blocks_of(dd.from_pandas(frame(X), npartitions=2)["a"])


def test_labels_come_in_the_blocks_of_the_samples(X):
    y = np.arange(11)
    samples = blocks_of(da.from_array(X, chunks=((5, 0, 6), 3)))
    lazy = da.from_array(y, chunks=4)
    for given in (y, y.tolist(), lazy, delayed(y, 5, 5)):
        parts = dask.compute(*same_blocks(samples, given))
        assert [len(part) for part in parts] == [5, 0, 6]
        np.testing.assert_array_equal(np.concatenate(parts), y)
    table = dd.from_pandas(frame(X).assign(label=y), npartitions=2)
    parts = dask.compute(*same_blocks(blocks_of(table[["a", "b"]]), table["label"]))
    np.testing.assert_array_equal(np.concatenate(parts), y)


def test_labels_of_other_samples_are_refused(X):
    samples = blocks_of(da.from_array(X, chunks=(5, 3)))
    with pytest.raises(ValueError, match="11 samples in X but 10 labels"):
        same_blocks(samples, np.arange(10))
    with pytest.raises(ValueError, match="3 blocks of rows but the labels have 2"):
        same_blocks(samples, delayed(np.arange(11), 5))
