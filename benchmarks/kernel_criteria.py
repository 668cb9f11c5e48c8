"""Accuracy of widths learned by every criterion, against the median rule and a validated grid.

``python -m benchmarks.kernel_criteria [digits turned yaleb virus fmd fisher voc histograms]
[--out FILE] [--splits 5] [--samples 300 | --halves] [--alpha 0.003] [--neighbors 30] [--tuned]``
prints, for each data set, mean test accuracy over random splits of 300 training samples and up to
600 others (``--halves``: half of the samples, and all others), and mean paired differences to the
median width with their standard errors. kSC and kLLC have every training sample as an atom and the
residual rule; alpha and neighbours are the same for all widths, given or (``--tuned``) chosen for
the median width by three folds of the training samples. With ``--out``, every row is kept as soon
as it is known, and what is in the file is not fitted again.
"grid" is the best of seven widths by three-fold cross-validation of the training samples. "joint"
is SupervisedKernelCoding with 60 atoms, beside itself with the median width.

YaleB and VOC are read from the folder ``KERNELCODING_DATA``. Virus and FMD need the files that
:mod:`benchmarks.descriptors` makes in the folder ``KERNELCODING_FEATURES``. "turned" are made: 20
random smooth images in 36 positions each, as COIL's objects on their turntable. "histograms" are
digits divided by their sums, with the chi-squared kernel.
"""

import argparse
import os
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
from .supervised_accuracy import Book

ALPHAS, NEIGHBORS = (1e-4, 1e-3, 3e-3, 1e-2), (10, 30, 100)
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


def validated(models, X, y):
    """Sums of accuracies of models in three folds."""
    scores = np.zeros(len(models))
    for rest, out in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        scores += [model.fit(X[rest], y[rest]).score(X[out], y[out]) for model in models]
    return scores


def validated_width(method, start, X, y, arguments):
    """The width of highest accuracy in three folds; among equals the nearest to the median."""
    kernels = [type(start)(width * start.gamma) for width in WIDTHS]
    models = [residual_model(method, kernel, False, arguments) for kernel in kernels]
    scores = validated(models, X, y)
    best = np.flatnonzero(scores > scores.max() - 1e-9)
    return kernels[best[np.argmin(np.abs(np.log(WIDTHS[best])))]]


def tuned(start, X, y, arguments):
    """The arguments with the alpha and the neighbours of the median width."""
    found = argparse.Namespace(**vars(arguments))
    for method, name, values in (("kSC", "alpha", ALPHAS), ("kLLC", "neighbors", NEIGHBORS)):
        tried = [argparse.Namespace(**{**vars(found), name: value}) for value in values]
        scores = validated([residual_model(method, start, False, t) for t in tried], X, y)
        setattr(found, name, values[int(np.argmax(scores))])
    return found


def rows():
    """Name of the row, how to make its model, and the learning of its kernel; None: the grid's."""
    for method in ("kSC", "kLLC"):
        yield method, "median", residual_model, False
        for name, learning in CRITERIA.items():
            yield method, name, residual_model, learning
        yield method, "grid", residual_model, None
    yield "supervised", "median", supervised_model, False
    for name, learning in CRITERIA.items():
        yield "supervised", name, supervised_model, learning
    yield "supervised", "joint", supervised_model, KernelLearning(criterion="joint")


def measure(name, seed, arguments, book):
    """Write down the accuracies of one split."""
    load, kind = SETS[name]
    X, y = load()
    size = 0.5 if arguments.halves else arguments.samples
    X, test, y, truth = train_test_split(X, y, train_size=size, stratify=y, random_state=seed)
    if not arguments.halves:
        test, truth = test[:600], truth[:600]
    start, chosen = kind("median").resolve(X), None
    for method, row, make, learning in rows():
        place = {"data": name, "split": seed, "size": len(X), "method": method, "row": row}
        if any(place.items() <= known.items() for known in book.rows):
            continue
        if chosen is None:
            chosen = tuned(start, X, y, arguments) if arguments.tuned else arguments
        begin = time.process_time()
        kernel = validated_width(method, start, X, y, chosen) if learning is None else start
        model = make(method, kernel, bool(learning) and learning, chosen).fit(X, y)
        width = getattr(model, "coder_", model).kernel_.gamma / start.gamma
        score, seconds = 100 * model.score(test, truth), time.process_time() - begin
        book.add(
            **place, score=score, width=width, seconds=round(seconds, 1),
            alpha=chosen.alpha, neighbors=chosen.neighbors,
        )  # fmt: skip
        print(f"# {name} {seed} {method} {row} {score:.1f} {width:.3g} {seconds:.1f}", flush=True)


def show(name, book):
    """Means, and paired differences to the median width."""
    table = {}
    for known in book.rows:
        if known["data"] == name:
            entry = known["score"], known["width"], known["seconds"]
            table.setdefault((known["method"], known["row"]), {})[known["split"]] = entry
    for (method, row), entries in table.items():
        common = [split for split in entries if split in table[method, "median"]]
        scores, widths, seconds = np.array([entries[split] for split in common]).T
        gain = scores - np.array([table[method, "median"][split][0] for split in common])
        error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
        found = " ".join(f"{width:.2g}" for width in widths)
        cells = name, method, row, f"{scores.mean():.1f}", f"{gain.mean():+.1f} +- {error:.1f}"
        print("| " + " | ".join(cells), found, f"{seconds.mean():.1f} |", sep=" | ", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(SETS)}; default all")
    parser.add_argument("--out", default=os.devnull, help="file of JSON lines, added to")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--samples", type=int, default=300, help="for training")
    parser.add_argument("--halves", action="store_true", help="half of the samples for training")
    parser.add_argument("--tuned", action="store_true", help="choose alpha and neighbours")
    parser.add_argument("--alpha", type=float, default=0.003, help="of kSC")
    parser.add_argument("--neighbors", type=int, default=30, help="of kLLC")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    book = Book(arguments.out)
    with threadpool_limits(1):
        for name in arguments.sets or SETS:
            try:
                for seed in range(arguments.splits):
                    measure(name, seed, arguments, book)
            except FileNotFoundError as reason:
                print(f"{name} skipped: {reason}")
                continue
            show(name, book)


if __name__ == "__main__":
    main()
