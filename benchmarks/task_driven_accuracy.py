"""What task-driven training adds: atoms changed for a classifier of plain codes.

``python -m benchmarks.task_driven_accuracy --out FILE [--stages digits faces] [--splits 5]`` fits
what is not yet in FILE, one line of JSON for each method, and prints a table for each data set;
``--table`` only prints.

* the **control** is multinomial logistic regression on codes of the unsupervised dictionary, the
  **bilinear control** the bilinear classifier of the same codes; **joint** learns classifier and
  dictionary together, on codes that look at labels;
* **task-driven** is the control's classifier on codes of trained atoms; with landmarks, four per
  atom, the model keeps these instead of all training samples;
* alpha is chosen for the control on a fifth of the training part of each split, for each number of
  atoms, and then serves all methods; the width of the Gaussian is one for all. SVC chooses its own
  width and C by folds.
"""

import argparse
import tempfile
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from kernelcoding import KernelSparseCoder, SupervisedKernelCoding, persistence
from kernelcoding.kernels import Gaussian

from . import data
from .kernel_accuracy import faces
from .supervised_accuracy import NOTHING, Book, difference, digits, read_machine

ALPHAS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
WIDTH = 0.3  # gamma times the median squared distance
ROUNDS = 20
CASES = {"digits": (digits, (30, 50, 100)), "faces": (faces, (50, 100, 200))}


def before_training(progress):
    """A callback that keeps the unsupervised dictionary."""
    return progress.step == "trial"


TASK_DRIVEN = {"classifier": "logistic", "training": "task-driven"}
METHODS = {
    "control": {**TASK_DRIVEN, "callback": before_training},
    "task-driven": TASK_DRIVEN,
    "task-driven, landmarks": TASK_DRIVEN,
    "joint, linear": {"classifier": "linear"},
    "joint, max-margin": {"classifier": "max-margin"},
    "bilinear control": {"classifier": "bilinear", "eta": NOTHING},
}


def model(alpha, n_atoms, X, **options):
    """An unfitted estimator."""
    kernel = Gaussian(gamma=WIDTH / data.median_squared_distance(X[:1500]))
    coder = KernelSparseCoder(kernel, alpha=alpha, n_jobs=1)
    return SupervisedKernelCoding(coder, n_atoms, n_jobs=1, max_iter=ROUNDS, **options)


def choose(X, y, n_atoms):
    """The alpha of the control that predicts a fifth of the training samples best."""
    rest, part, y_rest, y_part = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    scores = {
        alpha: model(alpha, n_atoms, rest, **METHODS["control"])
        .fit(rest, y_rest)
        .score(part, y_part)
        for alpha in ALPHAS
    }
    return max(scores, key=scores.__getitem__)


def stored(found):
    """Bytes of the saved model."""
    with tempfile.TemporaryDirectory() as folder:
        persistence.save(found.set_params(callback=None), Path(folder) / "model.kc")
        return (Path(folder) / "model.kc").stat().st_size


def measure(name, split, n_atoms, book):
    """All methods of a split, each written as soon as it is known."""
    place = {"data": name, "split": split, "atoms": n_atoms}
    there = {r["method"] for r in book.rows if place.items() <= r.items()}
    if there >= METHODS.keys():
        return
    X, y, test, truth = CASES[name][0](split)
    known = [r["alpha"] for r in book.rows if place.items() <= r.items()]
    alpha = known[0] if known else choose(X, y, n_atoms)
    for method, options in METHODS.items():
        if method in there:
            continue
        landmarks = 4 * n_atoms if "landmarks" in method else None
        begin = time.perf_counter()
        found = model(alpha, n_atoms, X, n_landmarks=landmarks, **options).fit(X, y)
        learned = time.perf_counter()
        right = found.predict(test) == truth
        book.add(
            **place, method=method, alpha=alpha, error=100.0 * float(np.mean(~right)),
            seconds=round(learned - begin, 2),
            prediction=round(time.perf_counter() - learned, 3),
            bytes=stored(found), kept=found.training_kept_,
        )  # fmt: skip


def machine(name, split, book):
    """SVC beside."""
    place = {"data": name, "split": split, "atoms": 0, "method": "SVC"}
    if not any(place.items() <= r.items() for r in book.rows):
        begin = time.perf_counter()
        ((accuracy, *_),) = read_machine(None, {}, *CASES[name][0](split))
        book.add(
            **place,
            error=100.0 - 100.0 * float(accuracy),
            seconds=round(time.perf_counter() - begin, 2),
        )


def show(rows):
    """Errors in %, paired differences from the control, and costs."""
    tables = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        tables[row["data"], row["atoms"]][row["method"]][row["split"]] = row
    for (name, atoms), methods in sorted(tables.items()):
        print(f"\n### {name}, {atoms} atoms\n")
        print(
            "| method | splits | error | minus control | learning, s | prediction, s | kB | kept |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        control = methods.get("control", {})
        for method, found in methods.items():
            gain = [found[s]["error"] - control[s]["error"] for s in found if s in control]
            mean = {
                key: np.mean([r[key] for r in found.values() if key in r] or [np.nan])
                for key in ("error", "seconds", "prediction", "bytes")
            }
            kept = sum(r.get("kept") == "task-driven" for r in found.values())
            print(f"| {method} | {len(found)} | {mean['error']:.2f} | {difference(gain)} "
                  f"| {mean['seconds']:.1f} | {mean['prediction']:.2f} "
                  f"| {mean['bytes'] / 1000:.0f} | {kept} |")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="file of JSON lines, added to")
    parser.add_argument("--stages", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--table", action="store_true", help="only print what the file has")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    book = Book(arguments.out)
    with threadpool_limits(1):
        for name in [] if arguments.table else arguments.stages:
            for split in range(arguments.splits):
                for n_atoms in CASES[name][1]:
                    measure(name, split, n_atoms, book)
                machine(name, split, book)
    show(book.rows)


if __name__ == "__main__":
    main()
