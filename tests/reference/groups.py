"""How far codes with groups of atoms are from optimal: slow and obvious."""

import numpy as np


def objective(problem, penalty, codes):
    """Without the constant ``k(x, x) / 2``."""
    fit = 0.5 * np.einsum("ij,ij->i", codes @ problem.gram, codes)
    fit = fit - np.einsum("ij,ij->i", codes, problem.cross)
    fit = fit + (penalty.l1 * np.abs(codes)).sum(1) + 0.5 * (penalty.ridge * codes**2).sum(1)
    groups = penalty.groups
    for g, weight in enumerate(groups.weights):
        fit = fit + weight * np.linalg.norm(codes[:, groups.labels == g], axis=1)
    return fit


def violations(problem, penalty, codes, constraint):
    """Distance of each group from optimality, relative to the weights."""
    groups = penalty.groups
    worst = np.zeros(len(codes))
    for i, y in enumerate(codes):
        l1, ridge = penalty.l1[i % len(penalty.l1)], penalty.ridge[i % len(penalty.ridge)]
        v = problem.cross[i] - problem.gram @ y - ridge * y
        inner = l1 * np.sign(y)
        for g, w in enumerate(groups.weights):
            members = groups.labels == g
            if y[members].any():
                inner[members] += w * y[members] / np.linalg.norm(y[members])
        if constraint.sum_to_one:
            # any multiplier certifies; the one of the largest entry is the best determined
            v = v - (v - inner)[np.argmax(np.abs(y))]
        for g, w in enumerate(groups.weights):
            members = groups.labels == g
            vg, yg, lg = v[members], y[members], l1[members]
            at_zero = np.maximum(vg if constraint.nonnegative else np.abs(vg), 0.0)
            at_zero = np.maximum(at_zero - lg, 0.0)
            distances = np.where(yg == 0.0, at_zero, np.abs(vg - inner[members]))
            distance = np.linalg.norm(distances)
            if not yg.any():
                distance = max(distance - w, 0.0)
            scale = (w + np.linalg.norm(lg)) or np.abs(problem.cross[i]).max()
            worst[i] = max(worst[i], distance / scale)
    return worst
