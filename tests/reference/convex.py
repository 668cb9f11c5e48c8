"""The coding problem written for cvxpy, from the priors' own formulas: slow, obvious, independent.

Nothing here looks at ``Penalty``: each prior is spelled out again from the paper, so that a wrong
factor in the library cannot hide by being wrong on both sides.
"""

import warnings
from dataclasses import dataclass

import cvxpy
import numpy as np

from kernelcoding import priors

# The tightest accuracy that the interior-point method reaches is taken; none looser is.
ACCURACIES = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8)


@dataclass(frozen=True)
class Terms:
    """``sum_j l1_j |y_j| + sum_j square_j y_j^2 + sum_g group_g ||y_g||`` for one sample."""

    l1: np.ndarray
    square: np.ndarray
    labels: np.ndarray
    group: np.ndarray

    def value(self, code):
        """The terms at one code, added up naively."""
        groups = sum(
            weight * np.sqrt(np.sum(code[self.labels == g] ** 2))
            for g, weight in enumerate(self.group)
        )
        return float(np.sum(self.l1 * np.abs(code)) + np.sum(self.square * code**2) + groups)


def terms(prior, problem, row, alpha):
    """What ``alpha * r(y)`` means for one sample."""
    size = problem.n_atoms
    l1, square, labels, group = np.zeros(size), np.zeros(size), np.zeros(size, int), np.zeros(1)
    squared_distance = np.array(
        [
            max(problem.self_similarity[row] - 2 * problem.cross[row, j] + problem.gram[j, j], 0.0)
            for j in range(size)
        ]
    )
    match prior:
        case priors.NoPrior():
            pass
        case priors.Ridge():
            square += 0.5
        case priors.L1():
            l1 += 1.0
        case priors.WeightedL1():
            l1 += prior.weights
        case priors.ElasticNet():
            l1 += prior.l1_ratio
            square += 0.5 * (1.0 - prior.l1_ratio)
        case priors.GroupL1() | priors.SparseGroupL1():
            ratio = getattr(prior, "l1_ratio", 0.0)
            names = sorted(set(prior.groups))
            labels = np.array([names.index(name) for name in prior.groups])
            group = np.sqrt([np.sum(labels == g) for g in range(len(names))])
            group = np.asarray(group if prior.weights is None else prior.weights, float)
            group = (1.0 - ratio) * group
            l1 += ratio
        case priors.Locality():
            distance = np.sqrt(squared_distance)
            far = distance.max()
            price = np.exp(prior.sigma * (distance / far if far > 0 else distance))
            square += price**2
        case priors.LocalCoordinate():
            l1 += squared_distance
        case _:
            raise TypeError(prior)
    return Terms(alpha * l1, alpha * square, labels, alpha * group)


def objective(problem, row, code, value):
    """Half the squared error of one sample plus the value of its prior."""
    error = (
        problem.self_similarity[row] - 2 * problem.cross[row] @ code + code @ problem.gram @ code
    )
    return 0.5 * error + value


class ConvexReference:
    """The problem of one dictionary, compiled once by cvxpy and solved sample by sample."""

    def __init__(self, gram, constraint, labels, n_groups):
        values, vectors = np.linalg.eigh(gram)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        size = len(gram)
        self.code = cvxpy.Variable(size)
        self.cross = cvxpy.Parameter(size)
        self.l1 = cvxpy.Parameter(size, nonneg=True)
        self.root_square = cvxpy.Parameter(size, nonneg=True)
        self.group = cvxpy.Parameter(n_groups, nonneg=True)
        cost = 0.5 * cvxpy.sum_squares(root @ self.code) - self.cross @ self.code
        cost = cost + self.l1 @ cvxpy.abs(self.code)
        cost = cost + cvxpy.sum_squares(cvxpy.multiply(self.root_square, self.code))
        if n_groups > 1:
            norms = [cvxpy.norm(self.code[np.flatnonzero(labels == g)]) for g in range(n_groups)]
            cost = cost + self.group @ cvxpy.hstack(norms)
        self.problem = cvxpy.Problem(cvxpy.Minimize(cost), limits(constraint, self.code))

    def solve(self, cross, terms):
        """Least value without the constant ``k(x, x) / 2``, and a code that attains it."""
        self.cross.value = cross
        self.l1.value = terms.l1
        self.root_square.value = np.sqrt(terms.square)
        self.group.value = terms.group
        return solve_tightly(self.problem), self.code.value


def solve_tightly(problem):
    """Least value of a cvxpy problem; refuses an answer it was not sure of."""
    for accuracy in ACCURACIES:
        settings = {name: accuracy for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas")}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": then the next one is tried
            try:
                # Warm starts of Clarabel have called a value optimal that was 1e-4 above the least.
                problem.solve(solver=cvxpy.CLARABEL, warm_start=False, **settings)
            except cvxpy.SolverError:
                continue
        if problem.status == cvxpy.OPTIMAL:
            return problem.value
    raise AssertionError(f"The reference gave up: {problem.status}.")


def limits(constraint, code):
    """The constraint in cvxpy's words."""
    name = type(constraint).__name__
    nonnegative = [code >= 0] if name in ("NonNegative", "Simplex") else []
    return nonnegative + ([cvxpy.sum(code) == 1] if name in ("SumToOne", "Simplex") else [])


def optimum(problem, prior, constraint, alpha):
    """Least objective of each sample, (n,), and codes that attain it, (n, N)."""
    all_terms = [terms(prior, problem, row, alpha) for row in range(problem.n_samples)]
    first = all_terms[0]
    reference = ConvexReference(problem.gram, constraint, first.labels, len(first.group))
    solved = [
        reference.solve(problem.cross[row], all_terms[row]) for row in range(problem.n_samples)
    ]
    values = [value + 0.5 * problem.self_similarity[i] for i, (value, _) in enumerate(solved)]
    return np.array(values), np.array([code for _, code in solved])
