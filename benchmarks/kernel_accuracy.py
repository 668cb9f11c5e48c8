"""Accuracy of learned kernels with the residual rule.

``python -m benchmarks.kernel_accuracy [digits yaleb virus fmd] [--quick] [--widths | --weights]
[--splits 3]`` prints two tables for each data set, all training samples being atoms: Gaussian
widths that are learned, chosen on a grid or taken from a rule; and four kernels alone and combined
(linear, Gaussian, quadratic and sigmoid; for the covariances of Virus three Gaussians of their
logarithms and Stein's kernel). Everything is chosen on the training part: ``alpha`` of kSC and
``n_neighbors`` of kLLC by two random splits of it, one choice for each width rule, each kernel
alone, and one for all combinations (with equal weights). ``alpha`` is relative to the mean of k(x,
x).

Virus and FMD need files of descriptors in the folder ``KERNELCODING_FEATURES``: ``virus.npz`` with
covariances ``C`` and labels ``y``, ``fmd.npz`` with histograms ``H`` (square roots of frequencies)
and labels ``y``.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, train_test_split
from threadpoolctl import threadpool_limits

from kernelcoding import KernelLearning, KernelLLC, KernelSparseCoder, ResidualClassifier
from kernelcoding.kernels import (
    Fixed,
    Gaussian,
    Linear,
    LogEuclideanGaussian,
    MultipleKernel,
    Normalized,
    Polynomial,
    Sigmoid,
    Stein,
)

from . import data

FEATURES = Path(os.environ.get("KERNELCODING_FEATURES", data.DATA_HOME))
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1)
WIDTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # times one over the median squared distance
STRENGTHS = (0.0, 0.01, 0.1, 1.0, 10.0)  # of the pull towards equal shares
LAMBDA, GAP = 0.1, 1e-3  # EasyMKL's usual mixture with the identity; relative duality gap
HEAD = "| data | coder | kernel | accuracy | chosen on training part | found | seconds |"


def halves(X, y, seed):
    """Half for training, half for testing, stratified."""
    train, test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=seed
    )
    return train, y_train, test, y_test


def digits(seed):
    X, y = load_digits(return_X_y=True)
    return halves(X / 16.0, y, seed)


def faces(seed):
    """The given split, then random halves."""
    found = data.yaleb()
    if found is None:
        raise FileNotFoundError(f"no yaleb/random_faces_504.npz in {data.DATA_HOME}")
    train, test, y_train, y_test = found
    if seed == 0:
        return train, y_train, test, y_test
    return halves(np.vstack([train, test]), np.concatenate([y_train, y_test]), seed)


def materials(seed):
    with np.load(FEATURES / "fmd.npz") as file:
        return halves(file["H"].astype(np.float64), file["y"], seed)


def viruses(seed):
    """One of ten shuffled folds for testing; samples are coordinates of logarithms."""
    X, y, _ = covariances()
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
    train, test = list(folds)[seed]
    return X[train], y[train], X[test], y[test]


@cache
def covariances():
    """Coordinates of logarithms, labels, and Stein divergences of all pairs."""
    with np.load(FEATURES / "virus.npz") as file:
        matrices, y = file["C"], file["y"]
    logarithms = LogEuclideanGaussian().prepare(matrices).points
    stein = Stein()
    prepared = stein.prepare(matrices)
    return logarithms, y, stein.statistic(prepared, prepared)


class SteinOfLogarithms(Stein):
    """Stein's kernel where samples come as logarithms: divergences are looked up."""

    input_ndim = 2

    def check(self, X):
        """Anything."""
        return np.asarray(X)

    def prepare(self, X, index=None):
        """Numbers of the samples."""
        numbers = {row.tobytes(): i for i, row in enumerate(covariances()[0])}
        return np.array([numbers[row.tobytes()] for row in np.ascontiguousarray(X)], dtype=np.intp)

    def statistic(self, P, Q):
        """Divergences."""
        return covariances()[2][np.ix_(P, Q)]

    def diagonal_statistic(self, P):
        """Of samples from themselves."""
        return np.zeros(len(P))


def of_vectors(X):
    """Four kernels for vectors, with numbers for their parameters."""
    kernels = Linear(), Gaussian("median"), Polynomial(2, gamma="scale"), Sigmoid(gamma="scale")
    return [Fixed(kernel.resolve(X)) for kernel in kernels]


def of_covariances(X):
    """The same for logarithms of covariances."""
    centre = Gaussian("median").resolve(X).gamma
    kernels = [Gaussian(factor * centre) for factor in (0.1, 1.0, 10.0)]
    among = SteinOfLogarithms().prepare(X)
    middle = np.median(covariances()[2][np.ix_(among, among)])
    return [Fixed(kernel) for kernel in (*kernels, SteinOfLogarithms(np.ceil(2 / middle) / 2))]


@dataclass(slots=True)
class Case:
    """A data set, its four kernels and the numbers of neighbours to choose from."""

    load: Callable
    neighbors: tuple[int, ...]
    bases: Callable = of_vectors
    names: tuple[str, ...] = ("linear", "Gaussian", "quadratic", "sigmoid")


CASES = {
    "digits": Case(digits, (5, 20, 50)),
    "yaleb": Case(faces, (30, 100, 200)),
    "virus": Case(
        viruses,
        (30, 60, 120),
        of_covariances,
        ("Gaussian 0.1 / median", "Gaussian 1 / median", "Gaussian 10 / median", "Stein"),
    ),
    "fmd": Case(materials, (20, 50, 100, 200)),
}


def mean_diagonal(kernel, X):
    """Mean of k(x, x), the unit of alpha."""
    return float(np.mean(kernel.diagonal_of(kernel.prepare_alone(X))))


def coder(method, value, kernel, X, learning=False):
    """A coder; ``value`` is kSC's alpha or kLLC's number of neighbours."""
    fixed = {"learn_kernel": learning, "n_jobs": 1, "random_state": 0}
    if method == "kLLC":
        return KernelLLC(kernel, n_neighbors=value, **fixed)
    return KernelSparseCoder(kernel, alpha=value * abs(mean_diagonal(kernel, X)), **fixed)


# Ways to a kernel, functions of the training samples, their labels, the method and its value.


def by_rule(rule, X, y, method, value):
    return Gaussian(rule).resolve(X)


def by_width(width, X, y, method, value):
    return Gaussian(width / data.median_squared_distance(X))


def by_learning(include_prior, X, y, method, value):
    """Learned width, from the median heuristic."""
    learning = KernelLearning(include_prior=include_prior)
    return coder(method, value, Gaussian("median").resolve(X), X, learning).fit(X, y).kernel_


def alone(bases, i, X, y, method, value):
    return bases(X)[i]


def equal(bases, X, y, method, value):
    """Equal shares of the mean diagonal."""
    kernels = bases(X)
    return MultipleKernel(kernels, [1 / (4 * mean_diagonal(kernel, X)) for kernel in kernels])


def weighted(learning, bases, X, y, method, value):
    """Learned weights; the kernels' own parameters are not learned."""
    start = equal(bases, X, y, method, value)
    return coder(method, value, start, X, learning).fit(X, y).kernel_


def averaged(bases, X, y, method, value):
    """AverageMKL: the mean of the kernels after cosine normalisation."""
    kernels = [Normalized(kernel) for kernel in bases(X)]
    return MultipleKernel(kernels, [1 / len(kernels)] * len(kernels))


def easy(bases, X, y, method, value):
    """EasyMKL (Aiolli and Donini, 2015): the same with weights from margins, mean over classes."""
    kernels = [Normalized(kernel) for kernel in bases(X)]
    return MultipleKernel(kernels, easy_weights([kernel(X) for kernel in kernels], y).tolist())


def easy_weights(matrices, y):
    """Shares of the squared margins gamma'YKYgamma, mean over the classes against the rest."""
    signs = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    signed = signs * margins(sum(matrices) / len(matrices), signs)
    parts = [np.maximum(np.sum(signed * (matrix @ signed), axis=0), 0) for matrix in matrices]
    return np.mean(np.array(parts) / np.sum(parts, axis=0), axis=1)


def margins(gram, signs):
    """KOMD: distributions over either class whose means are nearest, by accelerated projection.

    ``min (1 - LAMBDA) gamma'YKYgamma + LAMBDA |gamma|^2``, gamma >= 0 and of sum one on either
    side, for every column of signs. Both sums being equal, K may be centred, which helps.
    """
    centred = gram - gram.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(centred)
    root = vectors * np.sqrt((1 - LAMBDA) * np.maximum(values, 0.0))  # the sigmoid is indefinite
    quadratic = root @ root.T
    sides = [(c, np.flatnonzero(signs[:, c] == s)) for c in range(signs.shape[1]) for s in (1, -1)]
    point, step = np.zeros_like(signs), 1.0 / ((1 - LAMBDA) * values[-1] + LAMBDA)
    for column, rows in sides:
        point[rows, column] = 1.0 / len(rows)
    ahead, momentum = point, 1.0
    for count in range(5000):
        if count % 20 == 0:
            slope = signs * (quadratic @ (signs * point)) + LAMBDA * point
            size = np.sum(slope * point)
            if size - sum(slope[rows, column].min() for column, rows in sides) <= GAP * size:
                break
        slope = signs * (quadratic @ (signs * ahead)) + LAMBDA * ahead
        before, point = point, ahead - step * slope
        for column, rows in sides:
            point[rows, column] = on_simplex(point[rows, column])
        if np.sum(slope * (point - before)) > 0:
            momentum = 1.0
        last, momentum = momentum, (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = point + (last - 1) / momentum * (point - before)
    return point


def on_simplex(vector):
    """The nearest distribution."""
    ordered = np.sort(vector)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1, len(vector) + 1)
    return np.maximum(vector - excess[np.flatnonzero(ordered > excess)[-1]], 0.0)


def accuracy(way, method, value, X, y, test, truth):
    """Accuracy on a test part, and the kernel."""
    kernel = way(X, y, method, value)
    classifier = ResidualClassifier(coder(method, value, kernel, X)).fit(X, y)
    return float(classifier.score(test, truth)), kernel


def validated(way, method, value, X, y):
    """Mean accuracy over two splits of the training part."""
    splits = StratifiedShuffleSplit(2, test_size=0.25, random_state=0).split(X, y)
    return np.mean([accuracy(way, method, value, X[a], y[a], X[b], y[b])[0] for a, b in splits])


def choose(ways, method, values, X, y):
    """The way and value of highest validated accuracy; among equals the middle one."""
    pairs = [(way, value) for way in ways for value in values]
    if len(pairs) == 1:
        return pairs[0]
    scores = np.array([validated(way, method, value, X, y) for way, value in pairs])
    best = np.flatnonzero(scores > scores.max() - 1e-9)
    return pairs[best[len(best) // 2]]


def describe(kernel, X):
    """A width in units of one over the median, or the shares of the four kernels."""
    kernel = kernel.kernel if isinstance(kernel, Fixed) else kernel
    if isinstance(kernel, Gaussian):
        return f"{kernel.gamma * data.median_squared_distance(X):.3g} / median"
    if isinstance(kernel, MultipleKernel):
        means = [mean_diagonal(child, X) for child in kernel.children]
        shares = np.array(kernel.current_weights) * means
        return " ".join(f"{share:.2f}" for share in shares / shares.sum())
    return ""


def width_rows(values):
    """Label, ways to choose from and values to choose from."""
    yield "learned width", [partial(by_learning, True)], values
    yield "learned, error only", [partial(by_learning, False)], values
    yield "grid of widths", [partial(by_width, width) for width in WIDTHS], values
    yield "median", [partial(by_rule, "median")], values
    yield '"scale"', [partial(by_rule, "scale")], values


def weight_rows(case, values, common):
    """The same for four kernels; ``common`` is the value for all combinations."""
    for i, name in enumerate(case.names):
        yield name, [partial(alone, case.bases, i)], values
    yield "equal shares", [partial(equal, case.bases)], [common]
    yield "AverageMKL", [partial(averaged, case.bases)], [common]
    yield "EasyMKL", [partial(easy, case.bases)], [common]
    for strength in STRENGTHS:
        learning = KernelLearning(regularization=strength)
        way = partial(weighted, learning, case.bases)
        yield f"ratio, regularization {strength:g}", [way], [common]
    way = partial(weighted, KernelLearning(weights="alignment"), case.bases)
    yield "alignment", [way], [common]


def measure(name, seed, kinds, arguments, table):
    """Add the results of one split to the table."""
    case = CASES[name]
    X, y, test, truth = case.load(seed)
    grids = {"kSC": arguments.alphas, "kLLC": arguments.neighbors or case.neighbors}
    for method in arguments.coders:
        values = grids[method][1:3] if arguments.quick else grids[method]
        rows = list(width_rows(values)) if "widths" in kinds else []
        if "weights" in kinds:
            _, common = choose([partial(equal, case.bases)], method, values, X, y)
            rows += weight_rows(case, values, common)
        for label, ways, allowed in rows:
            begin = time.perf_counter()
            way, value = choose(ways, method, allowed, X, y)
            score, kernel = accuracy(way, method, value, X, y, test, truth)
            seconds = time.perf_counter() - begin
            edge = " (edge)" if len(allowed) > 1 and value in (allowed[0], allowed[-1]) else ""
            entry = score, f"{value:g}{edge}", describe(kernel, X), seconds
            table.setdefault((name, method, label), []).append(entry)
            print("#", name, seed, method, label, *entry, flush=True)


def show(table):
    """Means over the splits."""
    print("\n" + HEAD + "\n" + "|" + " --- |" * HEAD.count(" | ") + " --- |")
    for key, entries in table.items():
        scores, values, found, seconds = zip(*entries, strict=True)
        spread = f" +- {100 * np.std(scores):.1f}" if len(scores) > 1 else ""
        cells = [*key, f"{100 * np.mean(scores):.1f}{spread}", ", ".join(dict.fromkeys(values))]
        cells += ["; ".join(dict.fromkeys(found)), f"{np.mean(seconds):.1f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(CASES)}; default all")
    parser.add_argument("--quick", action="store_true", help="two values, one split")
    parser.add_argument("--splits", type=int, default=3, help="how many")
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--coders", nargs="+", default=["kSC", "kLLC"], help="kSC, kLLC")
    parser.add_argument("--alphas", nargs="+", type=float, default=ALPHAS, help="of kSC")
    parser.add_argument("--neighbors", nargs="+", type=int, help="of kLLC")
    parser.add_argument("--widths", action="store_true", help="the first table only")
    parser.add_argument("--weights", action="store_true", help="the second table only")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    kinds = [kind for kind in ("widths", "weights") if getattr(arguments, kind)]
    with threadpool_limits(1):
        for name in arguments.sets or CASES:
            table = {}
            count = 1 if arguments.quick else arguments.splits
            for seed in range(arguments.first, arguments.first + count):
                try:
                    measure(name, seed, kinds or ("widths", "weights"), arguments, table)
                except FileNotFoundError as reason:
                    print(f"{name} skipped: {reason}")
            show(table)


if __name__ == "__main__":
    main()
