"""Exact arithmetic on small problems: rationals, and kernels to sixty digits."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations

DIGITS = 60


def rationals(array):
    """The very numbers of a float array, as nested lists."""
    if getattr(array, "ndim", 0) == 0:
        return Fraction(float(array))
    return [rationals(row) for row in array]


def gaussian(points, others, gamma):
    """Gaussian kernel of float points to sixty digits, as rationals."""
    gamma = Fraction(float(gamma))
    exact, far = rationals(points), rationals(others)
    return [[_exponential(-gamma * _squared_distance(p, q)) for q in far] for p in exact]


def linear(points, others):
    """Inner products of float points, exactly."""
    exact, far = rationals(points), rationals(others)
    return [[sum(a * b for a, b in zip(p, q, strict=True)) for q in far] for p in exact]


def _squared_distance(point, other):
    return sum((a - b) ** 2 for a, b in zip(point, other, strict=True))


def _exponential(exponent):
    if exponent < -300:  # beyond the digits; as a rational it may fill the memory
        return Fraction(0)
    with localcontext() as context:
        context.prec = DIGITS
        power = (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
    return Fraction(power)


def objective(own, cross, gram, code):
    """Half the squared error of a float code."""
    code = rationals(code)
    used = [j for j, value in enumerate(code) if value]
    error = own - 2 * sum(code[j] * cross[j] for j in used)
    error += sum(code[i] * code[j] * gram[i][j] for i in used for j in used)
    return error / 2


def least_squares(own, cross, gram, atoms):
    """The least half squared error with these atoms; None if it has no minimum.

    Gaussian elimination of the Gram matrix bordered by the sample: what is left of the corner.
    """
    rows = [[gram[i][j] for j in atoms] + [cross[i]] for i in atoms]
    rows.append([cross[j] for j in atoms] + [own])
    size, done = len(atoms), [False] * len(atoms)
    while True:
        left = [i for i in range(size) if not done[i]]
        pivot = max(left, key=lambda i: rows[i][i], default=None)
        if pivot is None:
            return rows[size][size] / 2
        if rows[pivot][pivot] <= 0:
            known = all(not rows[i][j] for i in left for j in [*left, size])
            return rows[size][size] / 2 if known else None
        done[pivot] = True
        for i in [*left, size]:
            if i != pivot:
                factor = rows[i][pivot] / rows[pivot][pivot]
                for j in [*left, size]:
                    if j != pivot:
                        rows[i][j] -= factor * rows[pivot][j]


def best_support(own, cross, gram, n_nonzero):
    """The least half squared error with so many atoms; None if it has no minimum."""
    size = min(n_nonzero, len(gram))
    values = [
        least_squares(own, cross, gram, atoms) for atoms in combinations(range(len(gram)), size)
    ]
    return None if None in values else min(values)
