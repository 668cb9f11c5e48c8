"""Model files: every value comes back with its kind, its bits and its identity."""

import numpy as np
import pytest
from scipy import sparse

import kernelcoding as kc
from helpers.model_files import there_and_back
from helpers.names import stable
from kernelcoding.persistence.values import SPARSE


def held(value, tmp_path):
    """A value as it comes back, in the place of a parameter."""
    return there_and_back(kc.KernelSparseCoder(groups=value), tmp_path).groups


VALUES = [
    *(None, True, 3, -(2**80), "word", "é\ud800", float("nan"), float("inf"), -0.0, 0.1, 5e-324),
    *(np.float32(0.1), np.float64(0.1), np.int8(-3), np.bool_(True), np.longdouble("0.1")),
    *(slice(1, None, 2), slice(np.int64(3)), (), [], {}, [[1], (2, [3.5])], {1: "a", "b": (None,)}),
    *(np.zeros((0, 3)), np.array(3.5), np.array(["a", "bc"]), np.arange(3, dtype=">i2")),
    np.array([(1, 2.5)], dtype=[("a", int), ("b", "f4")]),
    *(np.float32, np.longdouble, np.bool_, float, bool, object, np.dtype("f4"), np.dtype(">i2")),
    *(np.dtype("O"), np.dtype("U3")),
]


@pytest.mark.parametrize("value", VALUES, ids=stable)
def test_values_keep_their_kind_and_bits(value, tmp_path):
    again = held(value, tmp_path)
    assert type(again) is type(value)
    assert repr(again) == repr(value)
    if isinstance(value, (np.ndarray, np.generic)):
        assert again.dtype == value.dtype
        assert again.tobytes() == value.tobytes()


def test_arrays_keep_their_order_and_object_arrays_their_items(tmp_path):
    square = np.arange(12.0).reshape(3, 4)
    for array in (square, np.asfortranarray(square), square[:, ::2], square.T):
        again = held(array, tmp_path)
        np.testing.assert_array_equal(again, array)
        assert again.flags.f_contiguous == array.flags.f_contiguous
    for items in ([[1, 2], [3, 4]], ["word", np.float32(2)]):
        array = np.empty((2, 1), dtype=object)
        array[0, 0], array[1, 0] = items
        again = held(array, tmp_path)
        assert again.shape == (2, 1)
        assert again.dtype == object
        assert [type(item) for item in again[:, 0]] == [type(item) for item in items]
        assert again[:, 0].tolist() == items


@pytest.mark.parametrize("kind", SPARSE.values())
def test_sparse_matrices_keep_their_format(kind, tmp_path):
    matrix = kind(np.array([[0, 1.5, 0], [2.5, 0, 0]], dtype=np.float32))
    again = held(matrix, tmp_path)
    assert type(again) is kind
    assert again.dtype == np.float32
    np.testing.assert_array_equal(again.toarray(), matrix.toarray())
    others = held(sparse.coo_array(matrix), tmp_path)
    np.testing.assert_array_equal(others.toarray(), matrix.toarray())


def test_shared_objects_stay_shared_and_circles_closed(tmp_path):
    array, circle = np.arange(3), []
    circle.append({"circle": circle, "array": array})
    coder = kc.KernelSparseCoder(groups=[array, array, circle, {"self": None}])
    coder.groups[3]["self"] = coder
    again = there_and_back(coder, tmp_path)
    first, second, circle, owner = again.groups
    assert first is second
    assert first is circle[0]["array"]
    assert circle[0]["circle"] is circle
    assert owner["self"] is again
