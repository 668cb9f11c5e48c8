"""Our classifiers at their defaults beside ``SVC()`` at its own.

``python -m benchmarks.defaults [--out FILE] [--splits 5] [--only iris wine ...] [--raw]`` fits both
on halves of each data set and prints accuracies in %, means over splits, and the difference of ours
and SVC's with its standard error; nothing is chosen or tuned by anyone. Features are brought to
zero mean and unit variance for both, or left alone for both with ``--raw``; histograms of words are
square roots of frequencies in either case, covariances the coordinates of their logarithms. With
``--out``, what is in the file already is not fitted again.

**Our default classifier** is ``SupervisedKernelCoding()``; ``ResidualClassifier()`` is the rule for
dictionaries without a classifier, ``LabelConsistentKSVD()`` and ``DiscriminativeKSVD()`` are
published methods with our kernel.

Image sets are read from KERNELCODING_DATA (Extended YaleB as 504 random faces of unit norm, counts
of words of six VOC2007 classes) and, where :mod:`benchmarks.descriptors` has put them, from
KERNELCODING_FEATURES (Virus, FMD, scenes); they are left out where absent.
"""

import argparse
import os
import time
import warnings

import numpy as np
from scipy.io import loadmat
from sklearn import datasets
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import kernelcoding as kc
from kernelcoding.kernels import LogEuclideanGaussian

from .data import DATA_HOME
from .kernel_accuracy import FEATURES
from .supervised_accuracy import Book

MACHINE = "SVC()"
METHODS = {
    MACHINE: SVC,
    "SupervisedKernelCoding()": kc.SupervisedKernelCoding,
    "ResidualClassifier()": kc.ResidualClassifier,
    "LabelConsistentKSVD()": kc.LabelConsistentKSVD,
    "DiscriminativeKSVD()": kc.DiscriminativeKSVD,
}
BELOW = 1.0  # points that ours may be below SVC


def faces():
    """Extended YaleB, or None."""
    path = DATA_HOME / "yaleb" / "random_faces_504.npz"
    if not path.exists():
        return None
    file = np.load(path)
    return normalize(file["F"].astype(np.float64)), file["y"]


def words():
    """Square roots of frequencies of words, or None."""
    path = DATA_HOME / "voc2007" / "six_class_bow.mat"
    if not path.exists():
        return None
    file = loadmat(path)
    counts = file["fea"].astype(np.float64)
    return np.sqrt(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)), file["gnd"].ravel()


def described(name, key):
    """Descriptors of images, or None."""
    path = FEATURES / f"{name}.npz"
    if not path.exists():
        return None
    with np.load(path) as file:
        return file[key].astype(np.float64), file["y"]


def viruses():
    """Coordinates of logarithms of covariances, or None."""
    found = described("virus", "C")
    return found and (LogEuclideanGaussian().prepare(found[0]).points, found[1])


DATA = {
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "words": words,
    "FMD words": lambda: described("fmd", "H"),
    "FMD Fisher vectors": lambda: described("fmd", "F"),
    "scenes": lambda: described("scene15", "H"),
    "Virus": viruses,
    "YaleB": faces,
}


def accuracy(make, X, y, seed, raw):
    """Accuracy in % on half of the samples, after learning from the others."""
    train, test, labels, truth = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=seed
    )
    steps = [make()] if raw else [StandardScaler(), make()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return 100.0 * make_pipeline(*steps).fit(train, labels).score(test, truth)


def measure(name, method, given, book):
    """Accuracies of all splits, and seconds of each."""
    place, loaded = {"data": name, "raw": given.raw, "method": method}, None
    for split in range(given.splits):
        here = {**place, "split": split}
        if any(here.items() <= row.items() for row in book.rows):
            continue
        loaded = DATA[name]() if loaded is None else loaded
        if loaded is None:
            return
        begin = time.process_time()
        found = accuracy(METHODS[method], *loaded, split, given.raw)
        book.add(**here, accuracy=found, seconds=round(time.process_time() - begin, 2))


def show(name, method, given, book):
    """Print a row of the table."""
    rows = {
        (row["method"], row["split"]): row
        for row in book.rows
        if row["data"] == name and row["raw"] == given.raw and row["split"] < given.splits
    }
    splits = [split for who, split in rows if who == method and (MACHINE, split) in rows]
    if not splits:
        return
    found, machine = (
        np.array([rows[who, split]["accuracy"] for split in splits]) for who in (method, MACHINE)
    )
    seconds = np.mean([rows[method, split]["seconds"] for split in splits])
    gain = found - machine
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
    note = "" if gain.mean() >= -BELOW else " (below)"
    beside = "" if method == MACHINE else f"{gain.mean():+.1f} ± {error:.1f}{note}"
    print(
        f"| {name} | {method} | {found.mean():.1f} | {beside} | {seconds:.1f} s | {len(splits)} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=os.devnull, help="file of JSON lines, added to")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=list(DATA), default=list(DATA))
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--raw", action="store_true", help="leave the features alone")
    parser.add_argument("--table", action="store_true", help="only print what the file has")
    given = parser.parse_args()
    book = Book(given.out)
    print("| data | method | accuracy | beside SVC() | seconds | splits |")
    print("| --- | --- | --- | --- | --- | --- |")
    with threadpool_limits(1):
        for name in given.only:
            for method in dict.fromkeys([MACHINE, *given.methods]):
                if not given.table:
                    measure(name, method, given, book)
                show(name, method, given, book)


if __name__ == "__main__":
    main()
