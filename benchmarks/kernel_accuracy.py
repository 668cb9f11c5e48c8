"""Accuracy of learned kernels with the residual rule.

``python -m benchmarks.kernel_accuracy [--quick] [--widths | --weights] [--splits 3] [digits
yaleb]`` prints two tables for each data set, all training samples being atoms: Gaussian widths that
are learned, chosen on a grid or taken from a rule; and four kernels (linear, Gaussian, quadratic,
sigmoid) alone and combined. Everything is chosen on the training part: ``alpha`` of kSC and
``n_neighbors`` of kLLC by two random splits of it, one choice for each width rule, each kernel
alone, and one for all combinations (with equal weights). ``alpha`` is relative to the mean of
k(x, x).
"""

import argparse
import time
import warnings
from functools import partial

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from threadpoolctl import threadpool_limits

from kernelcoding import KernelLLC, KernelSparseCoder, ResidualClassifier
from kernelcoding.kernels import Gaussian, Linear, MultipleKernel, Polynomial, Sigmoid
from kernelcoding.learning import KernelLearning

from . import data
from .kernel_learning import Held

ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1)
NEIGHBORS = {"digits": (5, 20, 50), "yaleb": (30, 100, 200)}
WIDTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # times one over the median squared distance
NAMES = ("linear", "Gaussian", "quadratic", "sigmoid")
STRENGTHS = (0.0, 0.1, 1.0)  # of the pull towards equal shares
HEAD = "| data | coder | kernel | accuracy | chosen on training part | found | seconds |"


def digits(seed):
    """Half for training, half for testing, stratified."""
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(
        X / 16.0, y, test_size=0.5, stratify=y, random_state=seed
    )
    return train, y_train, test, y_test


def faces(seed):
    """YaleB has one split."""
    found = data.yaleb() if seed == 0 else None
    if found is None:
        raise FileNotFoundError(f"no yaleb/random_faces_504.npz in {data.DATA_HOME}")
    train, test, y_train, y_test = found
    return train, y_train, test, y_test


SETS = {"digits": (digits, 3), "yaleb": (faces, 1)}  # loader and number of splits


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


def bases(X):
    """The four kernels, with numbers for their parameters."""
    kernels = Linear(), Gaussian("median"), Polynomial(2, gamma="scale"), Sigmoid(gamma="scale")
    return [Held(kernel.resolve(X)) for kernel in kernels]


def alone(i, X, y, method, value):
    return bases(X)[i]


def equal(X, y, method, value):
    """Equal shares of the mean diagonal."""
    kernels = bases(X)
    return MultipleKernel(kernels, [1 / (4 * mean_diagonal(kernel, X)) for kernel in kernels])


def weighted(learning, X, y, method, value):
    """Learned weights; the kernels' own parameters are not learned."""
    start = equal(X, y, method, value)
    if learning.weights == "alignment":
        start = MultipleKernel(start.kernels)
    return coder(method, value, start, X, learning).fit(X, y).kernel_


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
    scores = np.array([validated(way, method, value, X, y) for way, value in pairs])
    best = np.flatnonzero(scores > scores.max() - 1e-9)
    return pairs[best[len(best) // 2]]


def describe(kernel, X):
    """A width in units of one over the median, or the shares of the four kernels."""
    kernel = kernel.kernel if isinstance(kernel, Held) else kernel
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


def weight_rows(values, common):
    """The same for four kernels; ``common`` is the value for all combinations."""
    for i, name in enumerate(NAMES):
        yield name, [partial(alone, i)], values
    yield "equal shares", [equal], [common]
    for strength in STRENGTHS:
        learning = KernelLearning(regularization=strength)
        yield f"ratio, regularization {strength:g}", [partial(weighted, learning)], [common]
    yield "alignment", [partial(weighted, KernelLearning(weights="alignment"))], [common]


def measure(name, seed, kinds, quick, table):
    """Add the results of one split to the table."""
    X, y, test, truth = SETS[name][0](seed)
    for method, values in (("kSC", ALPHAS), ("kLLC", NEIGHBORS[name])):
        values = values[1:3] if quick else values
        rows = list(width_rows(values)) if "widths" in kinds else []
        if "weights" in kinds:
            _, common = choose([equal], method, values, X, y)
            rows += weight_rows(values, common)
        for label, ways, allowed in rows:
            begin = time.perf_counter()
            way, value = ways[0], allowed[0]
            if len(ways) * len(allowed) > 1:
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
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(SETS)}; default all")
    parser.add_argument("--quick", action="store_true", help="two values, one split")
    parser.add_argument("--splits", type=int, default=3, help="of digits at most; YaleB has one")
    parser.add_argument("--widths", action="store_true", help="the first table only")
    parser.add_argument("--weights", action="store_true", help="the second table only")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    kinds = [kind for kind in ("widths", "weights") if getattr(arguments, kind)]
    with threadpool_limits(1):
        for name in arguments.sets or SETS:
            table = {}
            for seed in range(1 if arguments.quick else min(arguments.splits, SETS[name][1])):
                try:
                    measure(name, seed, kinds or ("widths", "weights"), arguments.quick, table)
                except FileNotFoundError as reason:
                    print(f"{name} skipped: {reason}")
            show(table)


if __name__ == "__main__":
    main()
