"""Values that a description holds as they are: numbers, texts, types."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .errors import DAMAGED, ModelFileError

# What JSON holds as it is.
PLAIN = (bool, int, float, str, type(None))
SPARSE = {
    kind.__name__: kind
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix)
}
# Types that are parameters, such as the precision of an encoder.
TYPES = {
    f"{kind.__module__}.{kind.__name__}": kind
    for kind in (
        *(bool, int, float, str, object, np.bool_, np.str_, np.object_),
        *(np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128),
        *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    )
}


HAS_PARTS = object()


def describe_value(value: Any) -> Any:
    """The description of a value without parts; ``HAS_PARTS`` for all others."""
    if isinstance(value, (np.number, np.bool_)):  # their precision decides that of results
        return {"number": [value.dtype.str, value.tobytes().hex()]}
    if isinstance(value, PLAIN):
        return {"float": repr(value)} if isinstance(value, float) else value
    if isinstance(value, np.dtype) and value.kind in "biufcOSU":
        return {"dtype": value.str}
    if isinstance(value, type):
        name = f"{value.__module__}.{value.__name__}"
        return {"type": name} if TYPES.get(name) is value else HAS_PARTS
    return HAS_PARTS


def numpy_number(dtype: str, content: str) -> np.generic:
    """A number of NumPy from its type and its bytes."""
    kind = np.dtype(dtype)
    if kind.kind not in "biufc":
        raise ModelFileError(DAMAGED)
    (found,) = np.frombuffer(bytes.fromhex(content), kind)
    return found


def dtype_named(name: str) -> np.dtype:
    """A simple type of arrays."""
    found = np.dtype(name)
    if found.str != name or found.kind not in "biufcOSU":
        raise ModelFileError(DAMAGED)
    return found
