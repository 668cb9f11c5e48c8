"""Samples that share their atoms while a kernel is learned, and their blocks of matrices."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..codes import Codes

FEW_RANGES = 3  # of consecutive indices: fewer are copied as blocks


@dataclass(slots=True)
class Part:
    """Samples that are coded with the same atoms."""

    rows: NDArray  # into the samples that are followed
    atoms: NDArray  # into the atoms of the problem
    codes: Codes | None = None
    numbers: NDArray | None = None  # of these atoms in the dictionary, where not the same


def pick(array: NDArray, rows: NDArray, columns: NDArray) -> NDArray:
    """Chosen rows and columns, copied in blocks where the chosen ones are a few ranges."""
    if len(rows) == len(array) and len(columns) == array.shape[1]:
        return array
    of_rows, of_columns = _ranges(rows), _ranges(columns)
    if max(len(of_rows), len(of_columns)) > FEW_RANGES:
        return array[np.ix_(rows, columns)]
    return np.concatenate(
        [np.concatenate([array[r, c] for c in of_columns], axis=1) for r in of_rows]
    )


def assign(array: NDArray, part: Part, values: NDArray) -> None:
    """The converse of :func:`pick`, for a part's rows and atoms."""
    ranges = _ranges(part.atoms)
    if len(ranges) > FEW_RANGES:
        array[np.ix_(part.rows, part.atoms)] = values
        return
    first = 0
    for chosen in ranges:
        last = first + chosen.stop - chosen.start
        array[part.rows, chosen] = values[:, first:last]
        first = last


def _ranges(chosen: NDArray) -> list[slice]:
    """Ascending runs of consecutive numbers."""
    breaks = np.flatnonzero(np.diff(chosen) != 1) + 1
    edges = [0, *breaks.tolist(), len(chosen)]
    return [
        slice(int(chosen[a]), int(chosen[b - 1]) + 1) for a, b in itertools.pairwise(edges) if b > a
    ]
