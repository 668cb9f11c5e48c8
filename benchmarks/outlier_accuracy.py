"""One class is normal, the others are outliers: AUC of detectors over splits, as a table.

``python -m benchmarks.outlier_accuracy [digits faces]``
"""

import sys
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import normalize
from sklearn.svm import OneClassSVM

import kernelcoding as kc

from .data import DATA_HOME

N_SPLITS = 5
N_STRANGE = 300
SHARE = 0.1  # of training samples below the threshold, wherever a detector takes it


def digits():
    X, y = load_digits(return_X_y=True)
    return normalize(X), y, 100, range(10)


def faces():
    file = np.load(DATA_HOME / "yaleb" / "random_faces_504.npz")
    return normalize(file["F"].astype(np.float64)), file["y"], 32, np.unique(file["y"])


DATA = {"digits": digits, "faces": faces}


def ours():
    """Name -> detector; the first is what the others are compared with."""
    detector = kc.KernelOutlierDetector
    learning = kc.KernelDictionaryLearning(kc.KernelSparseCoder(alpha=0.01), n_atoms=15)
    return {
        "all atoms, sparse codes (default)": detector(contamination=SHARE),
        "all atoms, sparse codes, linear": detector(
            kc.KernelSparseCoder("linear"), contamination=SHARE
        ),
        "all atoms, LLC": detector(kc.KernelLLC(n_neighbors=5), contamination=SHARE),
        "all atoms, OMP": detector(kc.KernelMatchingPursuit(n_nonzero=5), contamination=SHARE),
        "20 atoms, sparse codes": detector(kc.KernelSparseCoder(atoms=20), contamination=SHARE),
        "15 learned atoms, sparse codes": detector(learning, contamination=SHARE),
    }


def peers():
    found = {
        "IsolationForest": IsolationForest(contamination=SHARE, random_state=0),
        "OneClassSVM": OneClassSVM(nu=SHARE),
        "LocalOutlierFactor": LocalOutlierFactor(novelty=True, contamination=SHARE),
    }
    try:
        from dictlearn import KernelDictionaryLearning
        from dictlearn.anomaly import DictionaryLearningDetector
    except ImportError:
        return found
    given = {"n_components": 15, "n_nonzero_coefs": 5, "max_iter": 20, "random_state": 0}
    kernel = KernelDictionaryLearning(kernel="rbf", **given)
    found["dictlearn, linear"] = DictionaryLearningDetector(contamination=SHARE, **given)
    found["dictlearn, rbf"] = DictionaryLearningDetector(kernel, contamination=SHARE)
    return found


def measure(detector, X, y, n_train, classes, split):
    """Mean over classes of the AUC and of the share of new normal samples that are rejected."""
    areas, alarms = [], []
    for label in classes:
        rng = np.random.default_rng(1000 * split + int(label))
        own = rng.permutation(np.flatnonzero(y == label))
        strange = rng.choice(np.flatnonzero(y != label), N_STRANGE, replace=False)
        fitted = clone(detector).fit(X[own[:n_train]])
        normal = fitted.score_samples(X[own[n_train:]])
        other = fitted.score_samples(X[strange])
        truth = np.repeat([1, 0], [len(normal), len(other)])
        areas.append(roc_auc_score(truth, np.concatenate([normal, other])))
        alarms.append(np.mean(fitted.predict(X[own[n_train:]]) == -1))
    return np.mean(areas), np.mean(alarms)


def main():
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or DATA:
        X, y, n_train, classes = DATA[name]()
        print(f"| {name}, {n_train} normal samples | AUC | below the default | false alarms |")
        print("| --- | --- | --- | --- |")
        first = None
        for method, detector in (ours() | peers()).items():
            found = [measure(detector, X, y, n_train, classes, s) for s in range(N_SPLITS)]
            areas, alarms = 100 * np.array(found).T
            first = areas if first is None else first
            paired = first - areas
            spread = paired.std(ddof=1) / np.sqrt(N_SPLITS)
            print(
                f"| {method} | {areas.mean():.2f} ± {areas.std(ddof=1):.2f} | "
                f"{paired.mean():+.2f} ± {spread:.2f} | {alarms.mean():.1f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()
