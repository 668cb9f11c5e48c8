"""Supervised coding on explicit vectors, without kernel trick or closed form: slow and obvious."""

import cvxpy
import numpy as np

from reference import convex


def weighted_ridge(features, targets, sample_weight, regularization, intercept):
    """Minimise ``sum_i v_i |t_i - W'f_i - b|^2 + lambda |W|^2`` with b as one more unknown."""
    design = np.hstack([features, np.full((len(features), 1), float(intercept))])
    penalties = np.append(np.full(features.shape[1], regularization), 0.0 if intercept else 1.0)
    roots = np.sqrt(sample_weight)[:, None]
    rows = np.vstack([roots * design, np.diag(np.sqrt(penalties))])
    right = np.vstack([roots * targets, np.zeros((len(penalties), targets.shape[1]))])
    solution = np.linalg.lstsq(rows, right, rcond=None)[0]
    return solution[:-1], solution[-1]


def ridge_left_out(features, targets, sample_weight, regularization, intercept):
    """Each sample scored by a regression on the others, fitted anew."""
    if features.shape[1] > features.shape[0]:  # the same inner products with fewer numbers
        left, values, _ = np.linalg.svd(features, full_matrices=False)
        features = left * values
    scores = np.empty_like(targets)
    for i in range(len(targets)):
        others = np.arange(len(targets)) != i
        weights, bias = weighted_ridge(
            features[others], targets[others], sample_weight[others], regularization, intercept
        )
        scores[i] = features[i] @ weights + bias
    return scores


def products(samples, codes):
    """The feature of a bilinear score, every entry of a sample times every entry of its code."""
    return np.einsum("ip,ij->ipj", samples, codes).reshape(len(samples), -1)


def subspace_ridge(features, directions, targets, sample_weight, regularization, intercept):
    """Ridge regression whose weights must be combinations of the given directions (rows)."""
    _, values, basis = np.linalg.svd(directions, full_matrices=False)
    basis = basis[values > 1e-10 * values[0]]
    weights, bias = weighted_ridge(
        features @ basis.T, targets, sample_weight, regularization, intercept
    )
    return basis.T @ weights, bias


def hinge_objective(weights, bias, codes, signs, sample_weight, regularization):
    """``lambda/2 |W|^2 + 1/2 sum_is v_i max(0, 1 - t_is f_is)^2``."""
    slack = np.maximum(0.0, 1.0 - signs * (codes @ weights + bias))
    return 0.5 * regularization * np.sum(weights**2) + 0.5 * np.sum(
        sample_weight[:, None] * slack**2
    )


def square_loss(scores, targets):
    return 0.5 * ((targets - scores) ** 2).sum(axis=1)


def hinge_loss(scores, targets):
    return 0.5 * (np.maximum(0.0, 1.0 - targets * scores) ** 2).sum(axis=1)


# Codes that look at labels ---------------------------------------------------------------------


def labelled_code(own, cross, gram, terms, constraint, responses, target, eta):
    """Least joint objective of one sample with squared loss, and a code that attains it."""
    values, vectors = np.linalg.eigh(gram)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    code = cvxpy.Variable(len(gram))
    cost = 0.5 * cvxpy.sum_squares(root @ code) - cross @ code
    cost = cost + terms.l1 @ cvxpy.abs(code)
    cost = cost + cvxpy.sum_squares(cvxpy.multiply(np.sqrt(terms.square), code))
    for g in np.flatnonzero(terms.group):
        cost = cost + terms.group[g] * cvxpy.norm(code[np.flatnonzero(terms.labels == g)])
    cost = cost + 0.5 * eta * cvxpy.sum_squares(target - responses.T @ code)
    problem = cvxpy.Problem(cvxpy.Minimize(cost), convex.limits(constraint, code))
    return convex.solve_tightly(problem) + 0.5 * own, code.value


def joint_value(own, cross, gram, terms, responses, target, eta, code):
    """The joint objective of one code, added up."""
    error = own - 2.0 * cross @ code + code @ gram @ code
    return 0.5 * error + terms.value(code) + 0.5 * eta * np.sum((target - responses.T @ code) ** 2)
