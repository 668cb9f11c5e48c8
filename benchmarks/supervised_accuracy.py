"""What supervision adds: classifiers learned with the dictionary beside classifiers of its codes.

``python -m benchmarks.supervised_accuracy --out FILE [--quick] [--stages faces digits ...]`` fits
what is not yet in FILE, one line of JSON for each accuracy, and prints a table for each data set,
coder and number of atoms; ``--table`` only prints. Splits are given or seeded.

* a **control** is the same run with ``eta`` next to nothing: the classifier is fitted to the codes
  of an unsupervised dictionary, its ``rho`` chosen as ever by leaving out each training sample.
  1-NN and a linear SVM read the same codes;
* **joint** is the classifier learned with the dictionary, on codes that look at labels; without
  that word, it was fitted again to codes that do not (``refit=True``);
* settings of the coder and the width of the Gaussian are chosen by folds of the training part of
  split 0 with the linear control alone, one setting after another, with the reference number of
  atoms in proportion and few rounds; they then serve all methods, splits and numbers of atoms.
  SVC chooses its own width and C by folds of the training part of each split, the linear SVM its C.

Virus and FMD need files of descriptors, as :mod:`benchmarks.kernel_accuracy` says.
"""

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from kernelcoding import KernelLLC, KernelSparseCoder, SupervisedKernelCoding
from kernelcoding.kernels import Gaussian, LogEuclideanGaussian

from . import data
from .dictionary_accuracy import nearest
from .kernel_accuracy import FEATURES, faces, materials

ROUNDS, ROUNDS_OF_CHOICE = 10, 3
NOTHING = 1e-9
RULES = ("linear", "bilinear", "max-margin", "logistic")
FACTORS = (1e-4, 0.001, 0.01, 0.1, 1.0, 10.0)  # of the unit of eta; "auto" is 0.1
CODERS = {"kSC": KernelSparseCoder, "kLLC": KernelLLC}
# Where the choice starts, and what is tried, in this order.
FIRST = {"kSC": {"width": 0.3, "alpha": 2e-3},
         "kLLC": {"width": 0.3, "n_neighbors": 30, "regularization": 1e-4}}  # fmt: skip
TRIED = {
    "kSC": {"width": (0.1, 0.3, 1.0), "alpha": (1e-3, 2e-3, 5e-3, 1e-2, 2e-2)},
    "kLLC": {"n_neighbors": (10, 30, 100), "width": (0.1, 0.3, 1.0),
             "regularization": (1e-4, 1e-3)},
}  # fmt: skip


def digits(seed):
    """600 samples for training, the others for testing."""
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(
        X / 16.0, y, train_size=600, stratify=y, random_state=seed
    )
    return train, y_train, test, y_test


@cache
def logarithms():
    """Virus: coordinates of logarithms of covariances, and labels."""
    with np.load(FEATURES / "virus.npz") as file:
        return LogEuclideanGaussian().prepare(file["C"]).points, file["y"]


def viruses(seed):
    """One of ten shuffled folds for testing."""
    X, y = logarithms()
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
    train, test = list(folds)[seed]
    return X[train], y[train], X[test], y[test]


@dataclass(slots=True)
class Case:
    """A data set: how it is split, and with how many atoms and folds settings are chosen."""

    load: Callable
    atoms: int
    folds: int
    used: int  # folds that are used


CASES = {"digits": Case(digits, 100, 3, 3), "yaleb": Case(faces, 570, 4, 2),
         "virus": Case(viruses, 300, 3, 2), "fmd": Case(materials, 300, 3, 2)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Job:
    """One fit and the rows that come of it."""

    data: str
    split: int
    atoms: int
    coder: str
    method: str  # a key of METHODS
    factor: float | None = None  # of the unit of eta

    def names(self):
        """Names of the rows."""
        if self.method == "control":
            return ["1-NN", "linear SVM", *(f"{rule} control" for rule in RULES)]
        if self.method == "SVC":
            return ["SVC"]
        mark = "" if self.factor is None else f", eta {self.factor:g} units"
        return [f"{self.method}{mark}", f"{self.method}{mark}, joint"]


def stages():
    """Jobs in the order of their importance."""
    methods = ("control", *RULES)
    few, kinds = ("linear", "max-margin"), ("virus", "fmd")
    atoms = (50, 100, 200, 400)
    return {
        "faces": [Job("yaleb", s, 570, "kSC", m) for s in range(5) for m in methods]
        + [Job("yaleb", s, 0, "-", "SVC") for s in range(5)],
        "digits": [Job("digits", s, n, "kSC", m) for n in atoms for s in range(5) for m in methods]
        + [Job("digits", s, 0, "-", "SVC") for s in range(5)],
        "descriptors": [Job(d, s, 0, "-", "SVC") for d in kinds for s in range(3)]
        + [Job(d, s, n, "kSC", m) for n in (100, 300, 50) for d in kinds for s in range(3)
           for m in methods]
        + [Job("virus", s, 600, "kSC", m) for s in range(3) for m in methods],
        "curve": [Job("yaleb", s, n, "kSC", m) for n in (100, 50, 200, 400, 600) for s in range(3)
                  for m in methods],
        "llc": [Job("digits", s, 100, "kLLC", m) for s in range(5) for m in methods]
        + [Job("yaleb", s, 570, "kLLC", m) for s in range(2) for m in methods]
        + [Job(d, s, 300, "kLLC", m) for s in range(3) for d in kinds for m in methods],
        "sweep": [Job(d, s, 100, "kSC", m, f) for d in CASES for s in (0, 1) for m in few
                  for f in FACTORS]
        + [Job("yaleb", s, 570, "kSC", m, f) for s in (0, 1) for f in FACTORS for m in few],
    }  # fmt: skip


def model(coder, settings, n_atoms, X, **options):
    """An unfitted estimator; ``width`` is gamma times the median squared distance."""
    settings = dict(settings)
    kernel = Gaussian(gamma=settings.pop("width") / data.median_squared_distance(X[:1500]))
    return SupervisedKernelCoding(
        CODERS[coder](kernel, n_jobs=1, **settings), n_atoms, n_jobs=1,
        **{"max_iter": ROUNDS, **options},
    )  # fmt: skip


def judge(coder, settings, case, X, y):
    """Accuracy of the linear control in folds of a training part."""
    n_atoms = round(case.atoms * (1 - 1 / case.folds))
    folds = StratifiedKFold(case.folds, shuffle=True, random_state=0).split(X, y)
    values = []
    for a, b in list(folds)[: case.used]:
        control = model(coder, settings, n_atoms, X[a], eta=NOTHING, max_iter=ROUNDS_OF_CHOICE).fit(
            X[a], y[a]
        )
        values.append(control.score(X[b], y[b]))
    return float(np.mean(values))


class Book:
    """What was measured, in a file: a run cut short loses nothing."""

    def __init__(self, path):
        self.path = Path(path)
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.rows = [json.loads(line) for line in lines]

    def add(self, **row):
        """One more row."""
        self.rows.append(row)
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def has(self, job):
        """Whether the rows of a job are there."""
        key = (job.data, job.split, job.atoms, job.coder)
        there = {r["method"] for r in self.rows
                 if (r["data"], r.get("split"), r.get("atoms"), r.get("coder")) == key}  # fmt: skip
        return there >= set(job.names())

    def settings(self, name, coder):
        """Chosen settings of a coder: from the file, or chosen now."""
        for row in self.rows:
            if (row["data"], row["coder"], row["method"]) == (name, coder, "choice"):
                return row["settings"]
        case, best, tried = CASES[name], dict(FIRST[coder]), []
        X, y, *_ = case.load(0)
        for parameter, values in TRIED[coder].items():
            scores = {}
            for value in values:
                settings = {**best, parameter: value}
                known = [score for s, score in tried if s == settings]
                scores[value] = known[0] if known else judge(coder, settings, case, X, y)
                if not known:
                    tried.append((settings, scores[value]))
            best[parameter] = max(scores, key=scores.__getitem__)
        self.add(data=name, coder=coder, method="choice", settings=best, tried=tried)
        return best


def stop(progress):
    """A callback that keeps the dictionary as it is."""
    return True


def read_controls(job, settings, X, y, test, truth):
    """One unsupervised dictionary; every way of reading its codes."""
    control = model(job.coder, settings, job.atoms, X, eta=NOTHING).fit(X, y)
    yield control.score(test, truth), "linear control", control
    pair = control.transform(X), control.transform(test)
    yield nearest(pair, y, truth), "1-NN", control
    svm = GridSearchCV(LinearSVC(dual="auto"), {"C": [0.1, 1.0, 10.0, 100.0]}, cv=3, n_jobs=1)
    yield svm.fit(pair[0], y).score(pair[1], truth), "linear SVM", control
    for rule in RULES[1:]:
        control.set_params(classifier=rule, warm_start=True, callback=stop).fit(X, y)
        yield control.score(test, truth), f"{rule} control", control


def read_supervised(job, settings, X, y, test, truth):
    """One supervised fit; the last classifier and the joint one."""
    found = model(job.coder, settings, job.atoms, X, classifier=job.method)
    if job.factor is not None:
        # k(x, x) is one; targets are zeros and ones, for max-margin ones with signs
        unit = 1.0 if job.method == "linear" else 1.0 / len(np.unique(y))
        found.set_params(eta=job.factor * unit)
    found.fit(X, y)
    names = job.names()
    yield found.score(test, truth), names[0], found
    found.classifier_ = found.joint_classifier_
    yield found.score(test, truth), names[1], found


def read_machine(job, settings, X, y, test, truth):
    """SVC with a Gaussian of its own width; kernels are computed once."""
    unit = 1.0 / data.median_squared_distance(X[:1500])
    among, beyond = (euclidean_distances(part, X, squared=True) for part in (X, test))
    best = None
    for width in (0.1, 0.3, 1.0, 3.0):
        machine = GridSearchCV(SVC(kernel="precomputed"), {"C": [1.0, 10.0, 100.0, 1000.0]}, cv=3)
        machine.fit(np.exp(-width * unit * among), y)
        if best is None or machine.best_score_ > best.best_score_:
            best, queries = machine, np.exp(-width * unit * beyond)
    yield best.score(queries, truth), "SVC", best


METHODS = {"control": read_controls, "SVC": read_machine} | dict.fromkeys(RULES, read_supervised)


def measure(job, book):
    """Fit, and write each row as soon as it is known."""
    X, y, test, truth = CASES[job.data].load(job.split)
    settings = book.settings(job.data, job.coder) if job.coder in CODERS else {}
    begin = time.perf_counter()
    for accuracy, name, found in METHODS[job.method](job, settings, X, y, test, truth):
        facts = {k: getattr(found, k) for k in ("eta_", "rho_", "n_iter_") if hasattr(found, k)}
        book.add(
            data=job.data, split=job.split, atoms=job.atoms, coder=job.coder, method=name,
            accuracy=100.0 * float(accuracy), n_test=len(truth),
            seconds=round(time.perf_counter() - begin, 1), **facts,
        )  # fmt: skip
        begin = time.perf_counter()


def show(rows):
    """What was chosen, and a table for each data set, coder and number of atoms."""
    tables = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row["method"] == "choice":
            tried = ", ".join(f"{list(s.values())} {100 * found:.1f}" for s, found in row["tried"])
            print(f"- {row['data']} {row['coder']} chosen: {row['settings']}; tried: {tried}")
        else:
            place = row["data"], row["coder"], row["atoms"]
            tables[place][row["method"]][row["split"]] = row["accuracy"]
    for (name, coder, atoms), methods in sorted(tables.items()):
        print(f"\n### {name}, {coder}, {atoms} atoms\n")
        print("| method | splits | accuracy | deviation | minus its control | each split |")
        print("| --- | --- | --- | --- | --- | --- |")
        for method, values in methods.items():
            found = list(values.values())
            deviation = f"{np.std(found, ddof=1):.2f}" if len(found) > 1 else ""
            control = methods.get(f"{method.split(',')[0]} control", {})
            gain = difference([values[s] - control[s] for s in values if s in control])
            each = " ".join(f"{value:.1f}" for value in found)
            print(f"| {method} | {len(found)} | {np.mean(found):.2f} | {deviation} | {gain} "
                  f"| {each} |")  # fmt: skip


def difference(values):
    """Mean with its sign, and its standard error."""
    if not values:
        return ""
    error = f" +- {np.std(values, ddof=1) / len(values) ** 0.5:.2f}" if len(values) > 1 else ""
    return f"{np.mean(values):+.2f}{error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="file of JSON lines, added to")
    parser.add_argument("--stages", nargs="*", choices=list(stages()), help="default all")
    parser.add_argument("--table", action="store_true", help="only print what the file has")
    parser.add_argument("--quick", action="store_true", help="the first two splits only")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    book = Book(arguments.out)
    jobs = [j for name in arguments.stages or stages() for j in stages()[name]]
    with threadpool_limits(1):
        for job in [] if arguments.table else jobs:
            if book.has(job) or (arguments.quick and job.split > 1):
                continue
            try:
                measure(job, book)
            except FileNotFoundError as reason:
                print(f"{job} skipped: {reason}")
    show(book.rows)


if __name__ == "__main__":
    main()
