"""How arrays are handed to compiled code."""

from __future__ import annotations

from numpy.typing import NDArray


def read_only(array: NDArray) -> NDArray:
    """The array, as one that cannot be written to.

    Memory maps and what other processes send cannot be, most arrays can: for Numba two types, and
    two functions to compile for every such argument.
    """
    view = array.view()
    view.flags.writeable = False
    return view
