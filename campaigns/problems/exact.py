"""The same in rational arithmetic: what is said here is so."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from .families import Arrays
from .reference import Sets
from .terms import Terms

Numbers = Sequence[Fraction]


def rational(values: NDArray) -> list[Fraction]:
    """The numbers that are meant, also those of extended precision."""
    found = []
    for value in np.asarray(values).ravel():
        high = float(value)
        found.append(Fraction(high) + Fraction(float(value - type(value)(high))))
    return found


def objective(arrays: Arrays, terms: Terms, row: int, code: Numbers) -> Fraction:
    """Half the squared error and the prior of one code; roots to 80 digits."""
    gram = [rational(line) for line in arrays.gram]
    cross, own = rational(arrays.cross[row]), rational(arrays.own[row])[0]
    used = [j for j, weight in enumerate(code) if weight]
    square = sum((code[i] * code[j] * gram[i][j] for i in used for j in used), Fraction(0))
    value = (own + square) / 2 - sum((code[j] * cross[j] for j in used), Fraction(0))
    l1, ridge = rational(terms.l1[row]), rational(terms.ridge[row])
    value += sum((l1[j] * abs(code[j]) + ridge[j] * code[j] ** 2 / 2 for j in used), Fraction(0))
    for group, weight in enumerate(rational(terms.weights)):
        squares = sum((code[j] ** 2 for j in used if terms.labels[j] == group), Fraction(0))
        value += weight * _root(squares)
    return value


def excess(
    arrays: Arrays, terms: Terms, row: int, code: NDArray, other: NDArray, sets: Sets
) -> Fraction:
    """What another code, feasible to the last bit, is better by."""
    better = rational(other)
    if sets.sum_to_one:
        better = [weight / sum(better) for weight in better]
    return objective(arrays, terms, row, rational(code)) - objective(arrays, terms, row, better)


def optimum(arrays: Arrays, terms: Terms, row: int, sets: Sets) -> Fraction:
    """The least objective without groups, over every support and every sign."""
    n_atoms = len(arrays.gram)
    least = None if sets.sum_to_one else objective(arrays, terms, row, [Fraction(0)] * n_atoms)
    most = n_atoms if sets.n_nonzero is None else min(sets.n_nonzero, n_atoms)
    signs = (1,) if sets.nonnegative or not np.any(terms.l1[row]) else (1, -1)
    for size in range(1, most + 1):
        for support in combinations(range(n_atoms), size):
            for pattern in product(signs, repeat=size):
                code = _stationary(arrays, terms, row, support, pattern, sets.sum_to_one)
                if code is None or (sets.nonnegative and min(code) < 0):
                    continue
                value = objective(arrays, terms, row, code)
                least = value if least is None else min(least, value)
    assert least is not None
    return least


def _stationary(
    arrays: Arrays,
    terms: Terms,
    row: int,
    support: tuple[int, ...],
    signs: tuple[int, ...],
    sum_to_one: bool,
) -> list[Fraction] | None:
    cross, l1, ridge = (rational(p[row]) for p in (arrays.cross, terms.l1, terms.ridge))
    system = [
        [rational(arrays.gram[i])[j] + (ridge[i] if i == j else 0) for j in support]
        for i in support
    ]
    right = [cross[j] - l1[j] * sign for j, sign in zip(support, signs, strict=True)]
    if sum_to_one:
        system = [[*line, Fraction(1)] for line in system] + [
            [Fraction(1)] * len(support) + [Fraction(0)]
        ]
        right = [*right, Fraction(1)]
    solution = _solved(system, right)
    if solution is None:
        return None
    code = [Fraction(0)] * len(cross)
    for j, weight in zip(support, solution, strict=False):
        code[j] = weight
    return code


def _solved(system: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Gauss and Jordan; None where the system is singular."""
    lines = [[*line, value] for line, value in zip(system, right, strict=True)]
    for j in range(len(lines)):
        pivot = next((i for i in range(j, len(lines)) if lines[i][j]), None)
        if pivot is None:
            return None
        lines[j], lines[pivot] = lines[pivot], lines[j]
        lines[j] = [value / lines[j][j] for value in lines[j]]
        for i in range(len(lines)):
            if i != j and lines[i][j]:
                factor = lines[i][j]
                lines[i] = [a - factor * b for a, b in zip(lines[i], lines[j], strict=True)]
    return [line[-1] for line in lines]


def _root(square: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 80
        return Fraction((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())
