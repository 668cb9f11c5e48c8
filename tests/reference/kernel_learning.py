"""The ratio that kernel learning minimises, written out; and its least value by a fine search."""

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.metrics import log_loss

import kernelcoding as kc


def prior(coder, own, cross, gram, code):
    """What the objective of one code has beside half its squared error, from the paper."""
    distances = own - 2.0 * cross + np.diag(gram)
    if isinstance(coder, kc.KernelSparseCoder) and coder.groups is not None:
        groups = [coder.groups == label for label in np.unique(coder.groups)]
        return coder.alpha * sum(np.sqrt(g.sum()) * np.linalg.norm(code[g]) for g in groups)
    if isinstance(coder, kc.KernelSparseCoder):
        return coder.alpha * np.abs(code).sum()
    if isinstance(coder, kc.KernelCoder):  # elastic net, half of each
        return coder.alpha * (0.5 * np.abs(code).sum() + 0.25 * code @ code)
    if isinstance(coder, kc.KernelLCC):
        return coder.alpha * np.abs(code) @ distances
    if isinstance(coder, kc.KernelLLC) and coder.n_neighbors is None:
        relative = np.sqrt(distances / distances.max())
        return coder.alpha * np.sum((np.exp(coder.sigma * relative) * code) ** 2)
    if isinstance(coder, kc.KernelLLC):
        trace = np.sort(distances)[: coder.n_neighbors].sum()
        return 0.5 * coder.regularization * trace * code @ code
    return 0.0


def distances_among(gram):
    """Mean squared distance between different atoms, from the matrix of all distances."""
    distances = np.diag(gram)[:, None] + np.diag(gram)[None] - gram - gram.T
    return distances[~np.eye(len(gram), dtype=bool)].mean()


def best_width(ratio, low, high, n_grid=25):
    """The least value of the ratio on a grid, refined."""
    grid = np.linspace(np.log(low), np.log(high), n_grid)
    values = [ratio(np.array([theta]))[0] for theta in grid]
    best = int(np.argmin(values))
    around = grid[max(best - 1, 0)], grid[min(best + 1, n_grid - 1)]
    refined = minimize_scalar(
        lambda theta: ratio(np.array([theta]))[0], bounds=around, method="bounded",
        options={"xatol": 1e-5},
    )  # fmt: skip
    candidates = [(values[best], grid[best]), (refined.fun, refined.x)]
    value, theta = min(candidates)
    return np.exp(theta), value


def regressed(codes, targets):
    """Each sample predicted by ridge regression on the others, at the best regularization."""
    centred = codes - codes.mean(axis=0)
    unit = np.mean(np.linalg.eigvalsh(centred @ centred.T))
    strengths = unit * np.logspace(-6, 1, 15)
    scores = np.empty((len(strengths), *targets.shape))
    for i in range(len(codes)):
        rest = np.arange(len(codes)) != i
        mean, middle = codes[rest].mean(axis=0), targets[rest].mean(axis=0)
        left, values, right = np.linalg.svd(codes[rest] - mean, full_matrices=False)
        ours, theirs = right @ (codes[i] - mean), left.T @ (targets[rest] - middle)
        for row, strength in zip(scores, strengths, strict=True):
            row[i] = middle + (ours * values / (values**2 + strength)) @ theirs
    return min(scores, key=lambda found: np.sum((found - targets) ** 2))


def least_log_loss(scores, y):
    """scikit-learn's log loss at the best temperature."""
    scores = (scores - scores.max(axis=1, keepdims=True)) / np.abs(scores).max()

    def loss(log_temperature):
        odds = np.exp(np.exp(log_temperature) * scores)
        return log_loss(y, odds / odds.sum(axis=1, keepdims=True), labels=range(scores.shape[1]))

    grid = np.linspace(-5, 15, 41)
    best = grid[np.argmin([loss(value) for value in grid])]
    return minimize_scalar(loss, bounds=(best - 0.5, best + 0.5), method="bounded").fun
