"""Objective and optimality conditions of lasso-type problems, written out naively."""

import numpy as np


def objective(problem, penalty, codes):
    """Without the constant ``k(x, x) / 2``."""
    quadratic = 0.5 * np.einsum("ij,jk,ik->i", codes, problem.gram, codes)
    l1, ridge = (penalty.l1 * np.abs(codes)).sum(1), (penalty.ridge * codes**2).sum(1)
    return quadratic - (problem.cross * codes).sum(1) + l1 + 0.5 * ridge


def violation(problem, penalty, codes, constraint):
    """Largest violation of the optimality conditions of each row."""
    worst = []
    for i, code in enumerate(codes):
        l1 = penalty.l1[i % len(penalty.l1)]
        slope = (
            problem.cross[i] - problem.gram @ code - penalty.ridge[i % len(penalty.ridge)] * code
        )
        used = code != 0
        if constraint.sum_to_one:
            slope = slope - np.mean((slope - l1 * np.sign(code))[used])
        outside = slope - l1 if constraint.nonnegative else np.abs(slope) - l1
        rows = np.where(used, np.abs(slope - l1 * np.sign(code)), np.maximum(outside, 0.0))
        infeasible = abs(code.sum() - 1.0) if constraint.sum_to_one else 0.0
        if constraint.nonnegative:
            infeasible = max(infeasible, -code.min())
        worst.append(max(rows.max(), infeasible))
    return np.array(worst)
