"""Supervised coding on explicit vectors, without kernel trick or closed form: slow and obvious."""

import cvxpy
import numpy as np
from scipy import sparse
from sklearn.base import clone

import kernelcoding as kc
from kernelcoding.kernels import Gaussian
from kernelcoding.learning.rules import Lesson
from reference import convex

CLASSIFIERS = ["linear", "bilinear", "max-margin", "logistic"]


def supervised(coder=None, **parameters):
    """A small estimator that takes all of its few rounds."""
    coder = kc.KernelSparseCoder(Gaussian(gamma=1.5), alpha=0.05) if coder is None else clone(coder)
    defaults = {"n_atoms": 12, "max_iter": 3, "tol": 0}
    return kc.SupervisedKernelCoding(coder, **{**defaults, **parameters})


def covariances(rng, n, p, stretch):
    """Covariance matrices, the first direction stretched."""
    factors = rng.normal(size=(n, p, 4 * p))
    factors[:, 0] *= stretch[:, None]
    return factors @ factors.transpose(0, 2, 1) / (4 * p)


def dense(codes):
    return codes.toarray() if sparse.issparse(codes) else np.asarray(codes)


def weighted_ridge(features, targets, importance, strength, intercept):
    """Minimise ``sum_i v_i |t_i - W'f_i - b|^2 + strength |W|^2`` with b as one more unknown."""
    design = np.hstack([features, np.full((len(features), 1), float(intercept))])
    price = np.append(np.full(features.shape[1], strength), 0.0 if intercept else 1.0)
    roots = np.sqrt(importance)[:, None]
    rows = np.vstack([roots * design, np.diag(np.sqrt(price))])
    right = np.vstack([roots * targets, np.zeros((len(price), targets.shape[1]))])
    solution = np.linalg.lstsq(rows, right, rcond=None)[0]
    return solution[:-1], solution[-1]


def ridge_left_out(features, targets, importance, strength, intercept):
    """Each sample scored by a regression on the others, fitted anew."""
    if features.shape[1] > features.shape[0]:  # the same inner products with fewer numbers
        left, values, _ = np.linalg.svd(features, full_matrices=False)
        features = left * values
    scores = np.empty_like(targets)
    for i in range(len(targets)):
        others = np.arange(len(targets)) != i
        weights, bias = weighted_ridge(
            features[others], targets[others], importance[others], strength, intercept
        )
        scores[i] = features[i] @ weights + bias
    return scores


def products(samples, codes):
    """The feature of a bilinear score, every entry of a sample times every entry of its code."""
    return np.einsum("ip,ij->ipj", samples, codes).reshape(len(samples), -1)


def subspace_ridge(features, directions, targets, importance, strength, intercept):
    """Ridge regression whose weights must be combinations of the given directions (rows)."""
    _, values, basis = np.linalg.svd(directions, full_matrices=False)
    basis = basis[values > 1e-10 * values[0]]
    weights, bias = weighted_ridge(features @ basis.T, targets, importance, strength, intercept)
    return basis.T @ weights, bias


def hinge_objective(weights, bias, codes, signs, importance, strength):
    """``strength/2 |W|^2 + 1/2 sum_is v_i max(0, 1 - t_is f_is)^2``."""
    slack = np.maximum(0.0, 1.0 - signs * (codes @ weights + bias))
    return 0.5 * strength * np.sum(weights**2) + 0.5 * np.sum(importance[:, None] * slack**2)


def square_loss(scores, targets):
    return 0.5 * ((targets - scores) ** 2).sum(axis=1)


def hinge_loss(scores, targets):
    return 0.5 * (np.maximum(0.0, 1.0 - targets * scores) ** 2).sum(axis=1)


def lesson_of(frame, codes, targets, rng, importance=None, eta=0.7, intercept=True, centres=None):
    """What the rules are taught from; ``centres`` are the codes of landmarks."""
    importance = np.ones(len(targets)) if importance is None else importance
    seed = np.random.RandomState(int(rng.integers(1000)))
    return Lesson(frame, codes, targets, importance, eta, intercept, seed, lambda: centres)


def one_hot(rng, n, n_classes):
    """Targets of ones and zeros, every class present."""
    labels = rng.permutation(np.arange(n) % n_classes)
    return np.eye(n_classes)[labels]


def sparse_codes(rng, n, n_atoms, cover=True, n_nonzero=3):
    """Random codes with few entries a row; covered, every atom is in use."""
    codes = rng.normal(size=(n, n_atoms))
    codes[np.argsort(np.argsort(rng.random(codes.shape), axis=1), axis=1) >= n_nonzero] = 0.0
    if cover:
        codes[np.arange(n_atoms), np.arange(n_atoms)] = 1.0
    return codes


# Codes that look at labels ---------------------------------------------------------------------


def labelled_code(own, cross, gram, terms, constraint, responses, goal, eta):
    """Least joint objective of one sample with squared loss, and a code that attains it."""
    values, vectors = np.linalg.eigh(gram)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    code = cvxpy.Variable(len(gram))
    cost = 0.5 * cvxpy.sum_squares(root @ code) - cross @ code
    cost = cost + terms.l1 @ cvxpy.abs(code)
    cost = cost + cvxpy.sum_squares(cvxpy.multiply(np.sqrt(terms.square), code))
    for g in np.flatnonzero(terms.group):
        cost = cost + terms.group[g] * cvxpy.norm(code[np.flatnonzero(terms.labels == g)])
    cost = cost + 0.5 * eta * cvxpy.sum_squares(goal - responses.T @ code)
    problem = cvxpy.Problem(cvxpy.Minimize(cost), convex.limits(constraint, code))
    return convex.solve_tightly(problem) + 0.5 * own, code.value


def joint_value(own, cross, gram, terms, responses, goal, eta, code):
    """The joint objective of one code, added up."""
    error = own - 2.0 * cross @ code + code @ gram @ code
    return 0.5 * error + terms.value(code) + 0.5 * eta * np.sum((goal - responses.T @ code) ** 2)
