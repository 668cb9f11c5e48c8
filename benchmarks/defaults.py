"""Our classifiers at their defaults beside ``SVC()`` at its own.

``python -m benchmarks.defaults [--splits 5] [--only iris wine ...] [--raw]`` fits both on halves of
each data set and prints accuracies in %, means over splits, and the difference of ours and SVC's
with its standard error; nothing is chosen or tuned by anyone. Features are brought to zero mean and
unit variance for both, or left alone for both with ``--raw``; histograms of words are square roots
of frequencies in either case.

Image sets are read from KERNELCODING_DATA (Extended YaleB as 504 random faces of unit norm, counts
of words of six VOC2007 classes) and left out where absent.
"""

import argparse
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

from .data import DATA_HOME

OURS = {
    "ResidualClassifier()": kc.ResidualClassifier,
    "SupervisedKernelCoding()": kc.SupervisedKernelCoding,
    "LabelConsistentKSVD()": kc.LabelConsistentKSVD,
}
BELOW = 1.0  # points that the best of ours may be below SVC


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


DATA = {
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "YaleB": faces,
    "words": words,
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


def compare(name, X, y, n_splits, raw, methods):
    """Print a row for each method; the differences from SVC."""
    reference = np.array([accuracy(SVC, X, y, seed, raw) for seed in range(n_splits)])
    print(f"| {name} | SVC() | {reference.mean():.1f} | | |", flush=True)
    for method in methods:
        start = time.perf_counter()
        found = np.array([accuracy(OURS[method], X, y, seed, raw) for seed in range(n_splits)])
        gain = found - reference
        error = gain.std(ddof=1) / np.sqrt(n_splits) if n_splits > 1 else np.nan
        seconds = (time.perf_counter() - start) / n_splits
        note = "" if gain.mean() >= -BELOW else " (below)"
        print(
            f"| {name} | {method} | {found.mean():.1f} | {gain.mean():+.1f} ± {error:.1f}{note} | "
            f"{seconds:.1f} s |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=list(DATA), default=list(DATA))
    parser.add_argument("--methods", nargs="*", choices=list(OURS), default=list(OURS))
    parser.add_argument("--raw", action="store_true", help="leave the features alone")
    given = parser.parse_args()
    print("| data | method | accuracy | beside SVC() | seconds |\n| --- | --- | --- | --- | --- |")
    with threadpool_limits(1):
        for name in given.only:
            loaded = DATA[name]()
            if loaded is not None:
                compare(name, *loaded, given.splits, given.raw, given.methods)


if __name__ == "__main__":
    main()
