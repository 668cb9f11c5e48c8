"""What formulations minimise or measure, from their formulas: slow and obvious."""

import numpy as np

from kernelcoding.formulations import NeighbourFit, OnCandidates, Penalised
from kernelcoding.priors import Prior
from reference import convex


def squared_distances(problem):
    """From samples to atoms, where priors look."""
    seen = problem if problem.geometry is None else problem.geometry
    return seen.self_similarity[:, None] - 2.0 * seen.cross + np.diag(seen.gram)


def added(formulation, problem, row, code):
    """What the objective of one code has beside half its squared error."""
    match formulation:
        case Penalised(prior=Prior()):
            seen = problem if problem.geometry is None else problem.geometry
            return convex.terms(formulation.prior, seen, row, formulation.alpha).value(code)
        case Penalised():  # a prior of one's own: the sum of absolute values
            return formulation.alpha * np.abs(code).sum()
        case OnCandidates():  # the same, for fewer atoms
            return added(formulation.formulation, problem, row, code)
        case NeighbourFit():
            near = np.sort(squared_distances(problem)[row])[: formulation.n_neighbors]
            return 0.5 * formulation.regularization * near.sum() * np.sum(code**2)
    return 0.0  # soft assignment: the error is all


def objective(formulation, problem, codes):
    """Half the squared error of each code and what is added to it, (n,)."""
    values = [
        convex.objective(problem, row, code, added(formulation, problem, row, code))
        for row, code in enumerate(codes)
    ]
    return np.array(values)
