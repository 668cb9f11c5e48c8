"""Accuracy of widths learned by every criterion, against the median rule and a validated grid.

``python -m benchmarks.kernel_criteria [digits turned yaleb virus fmd fisher voc histograms]
[--splits 5] [--samples 300] [--alpha 0.003] [--neighbors 30]`` prints, for each data set, mean
test accuracy over random splits of 300 training samples and up to 600 others, and mean paired
differences to the median width with their standard errors. kSC and kLLC have every training sample
as an atom and the residual rule; alpha and neighbours are not tuned, but the same for all widths.
"grid" is the best of seven widths by three-fold cross-validation of the training samples. "joint"
is SupervisedKernelCoding with 60 atoms, beside itself with the median width.

YaleB and VOC are read from the folder ``KERNELCODING_DATA``. Virus and FMD need files of
descriptors in the folder ``KERNELCODING_FEATURES``: ``virus.npz`` with covariances ``C`` and labels
``y``; ``fmd.npz`` with histograms ``H`` (square roots of frequencies), Fisher vectors ``F`` and
labels ``y``. "turned" are made: 20 random smooth images in 36 positions each, as COIL's objects on
their turntable. "histograms" are digits divided by their sums, with the chi-squared kernel.
"""

import argparse
import time
import warnings

import numpy as np
from scipy.io import loadmat
from scipy.ndimage import gaussian_filter, rotate
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from kernelcoding import (
    KernelLearning,
    KernelLLC,
    KernelSparseCoder,
    ResidualClassifier,
    SupervisedKernelCoding,
)
from kernelcoding.kernels import ChiSquared, Gaussian, LogEuclideanGaussian

from . import data
from .kernel_accuracy import FEATURES

WIDTHS = 10.0 ** np.arange(-2.0, 1.1, 0.5)  # times the median width
CRITERIA = {"ratio": KernelLearning(), "held-out": KernelLearning(criterion="held-out")}


def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def histograms():
    X, y = load_digits(return_X_y=True)
    return normalize(X, "l1"), y


def turned(n_objects=20, n_views=36, side=16):
    """Random smooth images, turned in equal steps."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(n_objects):
        image = gaussian_filter(rng.normal(size=(side, side)), 1.5)
        angles = 360.0 / n_views * np.arange(n_views)
        found += [rotate(image, angle, reshape=False, order=1).ravel() for angle in angles]
    return normalize(np.array(found)), np.repeat(np.arange(n_objects), n_views)


def yaleb():
    with np.load(data.DATA_HOME / "yaleb" / "random_faces_504.npz") as file:
        return normalize(file["F"].astype(np.float64)), file["y"]


def virus():
    with np.load(FEATURES / "virus.npz") as file:
        return LogEuclideanGaussian().prepare(file["C"]).points, file["y"]


def fmd():
    with np.load(FEATURES / "fmd.npz") as file:
        return file["H"].astype(np.float64), file["y"]


def fisher():
    with np.load(FEATURES / "fmd.npz") as file:
        return file["F"].astype(np.float64), file["y"]


def voc():
    file = loadmat(data.DATA_HOME / "voc2007" / "six_class_bow.mat")
    return normalize(file["fea"].astype(np.float64), "l1"), file["gnd"].ravel()


SETS = {
    "digits": (digits, Gaussian),
    "turned": (turned, Gaussian),
    "yaleb": (yaleb, Gaussian),
    "virus": (virus, Gaussian),
    "fmd": (fmd, Gaussian),
    "fisher": (fisher, Gaussian),
    "voc": (voc, ChiSquared),
    "histograms": (histograms, ChiSquared),
}


def residual_model(method, kernel, learning, arguments):
    fixed = {"learn_kernel": learning, "n_jobs": 1}
    if method == "kLLC":
        return ResidualClassifier(KernelLLC(kernel, n_neighbors=arguments.neighbors, **fixed))
    return ResidualClassifier(KernelSparseCoder(kernel, alpha=arguments.alpha, **fixed))


def supervised_model(method, kernel, learning, arguments):
    coder = KernelSparseCoder(kernel, alpha=arguments.alpha)
    return SupervisedKernelCoding(coder, 60, max_iter=8, learn_kernel=learning, n_jobs=1)


def validated_width(method, start, X, y, arguments):
    """The width of highest accuracy in three folds; among equals the nearest to the median."""
    scores = np.zeros(len(WIDTHS))
    for rest, out in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        for i, width in enumerate(WIDTHS):
            kernel = type(start)(width * start.gamma)
            model = residual_model(method, kernel, False, arguments).fit(X[rest], y[rest])
            scores[i] += model.score(X[out], y[out])
    best = np.flatnonzero(scores > scores.max() - 1e-9)
    return type(start)(WIDTHS[best[np.argmin(np.abs(np.log(WIDTHS[best])))]] * start.gamma)


def rows(start, X, y, arguments):
    """Name of the row, how to make its model, and the kernel and learning that it takes."""
    for method in ("kSC", "kLLC"):
        yield method, "median", residual_model, start, False
        for name, learning in CRITERIA.items():
            yield method, name, residual_model, start, learning
        yield method, "grid", residual_model, validated_width(method, start, X, y, arguments), False
    yield "supervised", "median", supervised_model, start, False
    for name, learning in CRITERIA.items():
        yield "supervised", name, supervised_model, start, learning
    yield "supervised", "joint", supervised_model, start, KernelLearning(criterion="joint")


def measure(name, seed, arguments, table):
    """Add the accuracies of one split to the table."""
    load, kind = SETS[name]
    X, y = load()
    X, test, y, truth = train_test_split(
        X, y, train_size=arguments.samples, stratify=y, random_state=seed
    )
    test, truth, start = test[:600], truth[:600], kind("median").resolve(X)
    for method, row, make, kernel, learning in rows(start, X, y, arguments):
        begin = time.perf_counter()
        model = make(method, kernel, learning, arguments).fit(X, y)
        fitted = getattr(model, "coder_", model)
        width, score = fitted.kernel_.gamma / start.gamma, 100 * model.score(test, truth)
        seconds = time.perf_counter() - begin
        table.setdefault((method, row), []).append((score, width, seconds))
        print(f"# {name} {seed} {method} {row} {score:.1f} {width:.3g} {seconds:.1f}", flush=True)


def show(name, table):
    """Means, and paired differences to the median width."""
    for (method, row), entries in table.items():
        scores, widths, seconds = np.array(entries).T
        gain = scores - np.array(table[method, "median"])[:, 0]
        error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
        found = " ".join(f"{width:.2g}" for width in widths)
        cells = name, method, row, f"{scores.mean():.1f}", f"{gain.mean():+.1f} +- {error:.1f}"
        print("| " + " | ".join(cells), found, f"{seconds.mean():.1f} |", sep=" | ", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(SETS)}; default all")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--samples", type=int, default=300, help="for training")
    parser.add_argument("--alpha", type=float, default=0.003, help="of kSC")
    parser.add_argument("--neighbors", type=int, default=30, help="of kLLC")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        for name in arguments.sets or SETS:
            table = {}
            try:
                for seed in range(arguments.splits):
                    measure(name, seed, arguments, table)
            except FileNotFoundError as reason:
                print(f"{name} skipped: {reason}")
                continue
            show(name, table)


if __name__ == "__main__":
    main()
