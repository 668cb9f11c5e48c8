"""Accuracy of nearest neighbours and linear classifiers on codes of learned dictionaries.

``python -m benchmarks.dictionary_accuracy [--quick] [--changes] [digits yaleb fashion]``: settings
are chosen by cross-validation on the training part, one for each way of reading the codes, with
the reference number of atoms; every number of atoms is then measured once on the test part.
``--changes`` prints the cross-validated effect of changing one setting at a time on YaleB.
"""

import argparse
import gzip
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from kernelcoding import KernelBagOfWords, KernelDictionaryLearning, KernelLLC, KernelSparseCoder
from kernelcoding.kernels import Gaussian

from . import data

ROUNDS = 5
DEBIAN = Path("/usr/share/datasets/fashion-mnist")  # of the package dataset-fashion-mnist
READINGS = ("1-NN Euclidean", "1-NN cosine", "linear SVM")

CODERS = {"SC": KernelSparseCoder, "LLC": KernelLLC, "kBOW": KernelBagOfWords,
          "kSC": KernelSparseCoder, "kLLC": KernelLLC}  # fmt: skip
NAMES = {"SC": ("alpha",), "LLC": ("n_neighbors", "regularization"),
         "kBOW": ("width", "sigma", "n_neighbors"), "kSC": ("width", "alpha"),
         "kLLC": ("width", "n_neighbors", "regularization")}  # fmt: skip
# Settings tried, in the order of NAMES. ``width`` is the Gaussian's gamma times the median squared
# distance; without it the kernel is linear.
TRIED = {
    "yaleb": {
        "SC": [(3e-4,), (1e-3,), (3e-3,), (1e-2,)],
        "LLC": [(100, 1e-4), (200, 1e-5), (200, 1e-4), (300, 1e-4)],
        "kBOW": [(1.0, 3.0, 20), (1.0, 10.0, 20), (1.0, 10.0, 100), (1.0, 30.0, 20)],
        "kSC": [(0.1, 1e-4), (0.1, 3e-4), (0.1, 1e-3), (0.3, 1e-3)],
        "kLLC": [(0.1, 100, 1e-4), (0.1, 200, 1e-5), (0.1, 200, 1e-4), (0.3, 200, 1e-4),
                 (0.1, 300, 1e-4)],
    },
    "digits": {
        "SC": [(0.03,), (0.1,), (0.3,)],
        "LLC": [(5, 1e-3), (15, 1e-3), (40, 1e-3)],
        "kBOW": [(1.0, 3.0, 20), (1.0, 10.0, 5), (1.0, 10.0, 20)],
        "kSC": [(0.3, 3e-3), (0.3, 0.01), (1.0, 0.01), (1.0, 0.05)],
        "kLLC": [(0.3, 15, 1e-3), (1.0, 5, 1e-3), (1.0, 15, 1e-3), (1.0, 40, 1e-3)],
    },
    "fashion": {
        "SC": [(0.3,), (1.0,), (3.0,)],
        "LLC": [(10, 1e-3), (40, 1e-3)],
        "kBOW": [(1.0, 10.0, 5), (1.0, 10.0, 20)],
        "kSC": [(0.3, 3e-3), (0.3, 0.01), (1.0, 0.03)],
        "kLLC": [(0.3, 40, 1e-3), (1.0, 10, 1e-3), (1.0, 40, 1e-3)],
    },
}  # fmt: skip

# YaleB, one change at a time from these settings of kSC and kLLC.
BASE = {"kSC": {"width": 0.1, "alpha": 3e-4},
        "kLLC": {"width": 0.1, "n_neighbors": 200, "regularization": 1e-4}}  # fmt: skip
CHANGES = {
    "kSC": [
        {}, {"alpha": 1e-4}, {"alpha": 1e-3}, {"alpha": 3e-3}, {"alpha": 1e-2},
        {"width": 0.03}, {"width": 0.3}, {"width": 1.0}, {"width": 3.0},
        {"rounds": 0}, {"rounds": 1}, {"rounds": 30},
        {"init": "random"}, {"init": "kernel-k-means"}, {"balanced": False}, {"positive": True},
        {"random_state": 1},
    ],
    "kLLC": [
        {}, {"n_neighbors": 5}, {"n_neighbors": 30}, {"n_neighbors": 100}, {"n_neighbors": 300},
        {"regularization": 1e-5}, {"regularization": 1e-3}, {"regularization": 1e-2},
        {"width": 0.03}, {"width": 0.3}, {"width": 1.0}, {"rounds": 0}, {"rounds": 1},
    ],
}  # fmt: skip


def faces():
    """YaleB: the given halves."""
    found = data.yaleb()
    if found is None:
        raise FileNotFoundError(f"no yaleb/random_faces_504.npz in {data.DATA_HOME}")
    train, test, y_train, y_test = found
    return train, y_train, test, y_test


def digits():
    """Two thirds for training, one for testing."""
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(
        X / 16.0, y, test_size=597, stratify=y, random_state=0
    )
    return train, y_train, test, y_test


def fashion(count=3000):
    """The first images of each part, pixels from 0 to 1."""
    for folder in (data.DATA_HOME / "fashion-mnist", DEBIAN):
        if (folder / "train-images-idx3-ubyte.gz").exists():
            break
    else:
        raise FileNotFoundError(f"no Fashion-MNIST in {data.DATA_HOME}/fashion-mnist or {DEBIAN}")

    def read(name, header):
        return np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8, offset=header)

    parts = []
    for part in ("train", "t10k"):
        images = read(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784)[:count] / 255.0
        parts += [images, read(f"{part}-labels-idx1-ubyte.gz", 8)[:count]]
    return tuple(parts)


# Loader, folds, reference number of atoms and all numbers of atoms.
SETS = {
    "digits": (digits, 3, 200, (50, 100, 200, 400)),
    "yaleb": (faces, 4, 570, (38, 114, 285, 570)),
    "fashion": (fashion, 2, 200, (100, 200, 400)),
}


def codes(method, settings, n_atoms, train, y, test):
    """Learn a dictionary; codes of both parts. ``rounds=0`` keeps the first dictionary."""
    settings = dict(settings)
    width, rounds = settings.pop("width", None), settings.pop("rounds", ROUNDS)
    labels = y if settings.pop("balanced", True) else None
    learning = {k: settings.pop(k) for k in ("init", "random_state") if k in settings}
    kernel = "linear"
    if width is not None:
        kernel = Gaussian(gamma=width / data.median_squared_distance(train[:1500]))
    learner = KernelDictionaryLearning(
        CODERS[method](kernel, n_jobs=1, **settings), n_atoms, max_iter=max(rounds, 1),
        callback=(lambda progress: True) if rounds == 0 else None, n_jobs=1, **learning,
    )  # fmt: skip
    learner.fit(train, labels)
    return learner.transform(train), learner.transform(test)


def nearest(pair, y, truth):
    """Accuracy of the nearest neighbour, for codes of training and test samples."""
    train, test = pair
    distances = (train**2).sum(axis=1) - 2 * test @ train.T
    return float((y[distances.argmin(axis=1)] == truth).mean())


def accuracies(pair, y, truth, more=False):
    """Accuracy of each reading; with ``more``, of further normalisations too."""
    unit = [normalize(part) for part in pair]
    svm = LinearSVC(C=10.0, dual="auto").fit(unit[0], y)
    values = nearest(pair, y, truth), nearest(unit, y, truth), float(svm.score(unit[1], truth))
    result = dict(zip(READINGS, values, strict=True))
    if more:
        size = [np.abs(part) for part in pair]
        root = [np.sign(part) * np.sqrt(np.abs(part)) for part in pair]
        result["cosine of |y|"] = nearest([normalize(p) for p in size], y, truth)
        result["cosine of sign(y) sqrt|y|"] = nearest([normalize(p) for p in root], y, truth)
    return result


def cross_validated(method, settings, n_atoms, X, y, n_folds, more=False):
    """Mean accuracies over folds, atoms in proportion to the samples."""
    n_atoms = round(n_atoms * (1 - 1 / n_folds))
    rows = [
        accuracies(codes(method, settings, n_atoms, X[a], y[a], X[b]), y[a], y[b], more)
        for a, b in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y)
    ]
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def report(row):
    """One line of JSON, at once: a run cut short loses nothing."""
    short = {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in row.items()}
    print(json.dumps(short), flush=True)


def compare(name, quick):
    """Choose settings on the training part, measure on the test part."""
    load, n_folds, reference, atoms = SETS[name]
    X, y, test, truth = load()
    for method, tuples in TRIED[name].items():
        grid = [dict(zip(NAMES[method], row, strict=True)) for row in tuples]
        grid = grid[-2:] if quick else grid
        tried = [cross_validated(method, s, reference, X, y, n_folds) for s in grid]
        for settings, row in zip(grid, tried, strict=True):
            report({"data": name, "method": method, "folds": n_folds, **settings, **row})
        best = {r: int(np.argmax([row[r] for row in tried])) for r in READINGS}
        for n_atoms in [reference] if quick else atoms:
            begin = time.perf_counter()
            measured = {
                i: accuracies(codes(method, grid[i], n_atoms, X, y, test), y, truth)
                for i in set(best.values())
            }
            report({"data": name, "method": method, "atoms": n_atoms, "test": True,
                    **{r: measured[best[r]][r] for r in READINGS},
                    "settings": [grid[best[r]] for r in READINGS],
                    "seconds": time.perf_counter() - begin})  # fmt: skip


def changes(quick):
    """YaleB: cross-validated accuracy when one setting is changed."""
    X, y, *_ = faces()
    for method, base in BASE.items():
        for change in CHANGES[method][: 3 if quick else None]:
            row = cross_validated(method, {**base, **change}, 570, X, y, 4, more=True)
            report({"method": method, "change": change or "none", **row})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(SETS)}; default all")
    parser.add_argument("--quick", action="store_true", help="two settings, one number of atoms")
    parser.add_argument("--changes", action="store_true", help="one change at a time, YaleB")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        for name in arguments.sets or ([] if arguments.changes else SETS):
            try:
                compare(name, arguments.quick)
            except FileNotFoundError as reason:
                print(f"{name} skipped: {reason}")
        if arguments.changes:
            changes(arguments.quick)


if __name__ == "__main__":
    main()
