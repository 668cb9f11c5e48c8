"""Damage to bytes, to JSON trees and to arrays."""

from __future__ import annotations

import copy

import numpy as np
from numpy.random import Generator

WORDS = ("class", "state", "array", "same", "float", "number", "dtype", "type", "of", "shape", "n")
LEAVES = (None, True, False, -1, 0, 1, 3, 2**40, 1e308, -0.5, "nan", "inf", "<f8", "", "L1", [], {})


def damaged_bytes(rng: Generator, content: bytes, other: bytes = b"") -> bytes:
    """Bits flipped, bytes written over, cut, repeated, or the end of another file."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        if not data:
            break
        kind = rng.integers(0, 7)
        # The directory of a zip file is at its end.
        first = max(0, len(data) - 600) if rng.random() < 0.5 else 0
        place = int(rng.integers(first, len(data)))
        if kind <= 1:
            data[place] ^= 1 << int(rng.integers(0, 8))
        elif kind == 2:
            data[place] = int(rng.integers(0, 256))
        elif kind == 3:
            del data[place:]
        elif kind == 4:
            data[place:place] = data[place : place + int(rng.integers(1, 64))]
        elif kind == 5:
            del data[place : place + int(rng.integers(1, 64))]
        else:
            data[place:] = other[-int(rng.integers(1, max(2, len(other)))) :]
    return bytes(data)


def damaged_tree(rng: Generator, tree: object) -> object:
    """A JSON tree with parts replaced, copied, dropped or renamed."""
    tree = copy.deepcopy(tree)
    for _ in range(int(rng.integers(1, 4))):
        spots = _places(tree, [])
        if not spots:
            break
        container, key = spots[int(rng.integers(0, len(spots)))]
        other, its_key = spots[int(rng.integers(0, len(spots)))]
        kind = rng.integers(0, 5)
        if kind <= 1:
            container[key] = copy.deepcopy(LEAVES[int(rng.integers(0, len(LEAVES)))])
        elif kind == 2:
            container[key] = copy.deepcopy(other[its_key])
        elif kind == 3 or isinstance(container, list):
            del container[key]
        else:
            container[str(rng.choice(WORDS))] = container.pop(key)
    return tree


def _places(tree: object, found: list) -> list:
    """Every (container, key) of a tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, item in items:
        found.append((tree, key))
        if isinstance(item, dict | list):
            _places(item, found)
    return found


def damaged_array(rng: Generator, array: np.ndarray) -> np.ndarray:
    """Other values, another shape or another type."""
    kind = rng.integers(0, 5)
    array = np.array(array)
    if kind == 0 and array.size and array.dtype.kind in "fiu":
        wild = [np.nan, np.inf, -1e308] if array.dtype.kind == "f" else [0, 1, 2**31 - 1]
        array.flat[int(rng.integers(0, array.size))] = rng.choice(wild)
    elif kind == 1 and array.size and array.dtype.kind == "i":
        array.flat[int(rng.integers(0, array.size))] = -int(rng.integers(1, 1000))
    elif kind == 2:
        return array.reshape(-1)[: int(rng.integers(0, array.size + 1))]
    elif kind == 3:
        types = ["U3"] if array.dtype.kind == "U" else ["f4", ">f8", "i8", "U3", "c16", "?"]
        return array.astype(rng.choice(types))
    else:
        return np.concatenate([array.reshape(-1)] * 2)
    return array
