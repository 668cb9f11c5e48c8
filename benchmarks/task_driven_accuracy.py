"""What task-driven training adds: atoms changed for a classifier of plain codes.

``python -m benchmarks.task_driven_accuracy --out FILE [--stages digits faces] [--splits 5]
[--atoms 50 100] [--methods control task-driven] [--no-svc]`` fits what is not yet in FILE, one line
of JSON for each method as soon as it is known, and prints a table for each data set; ``--table``
only prints. Seconds are those of one processor, so that a busy machine does not count.

* the **control** is multinomial logistic regression on codes of the unsupervised dictionary, the
  **bilinear control** the bilinear classifier of the same codes; **joint** learns classifier and
  dictionary together, on codes that look at labels;
* **task-driven** is the control's classifier on codes of trained atoms; with landmarks, four per
  atom, the model keeps these instead of all training samples, with **points** the atoms alone;
  with **shifts**, epochs see images moved by at most a pixel (clothes only, landmarks as before);
* settings are chosen for the control on a fifth of the training part of each split, for each number
  of atoms, and then serve all methods: alpha, and for descriptors the width of the Gaussian. Faces
  have one alpha, fixed beforehand. SVC chooses its own width and C by folds.

Virus and FMD need the files that :mod:`benchmarks.descriptors` makes, ``fashion`` those of
Fashion-MNIST.
"""

import argparse
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from kernelcoding import KernelSparseCoder, SupervisedKernelCoding, persistence
from kernelcoding.experiments.paper.mnist import before_training, moved
from kernelcoding.kernels import Gaussian

from . import data
from .kernel_accuracy import FEATURES, faces, halves, materials
from .supervised_accuracy import NOTHING, Book, difference, digits, read_machine, viruses

ROUNDS = 20


def fisher(seed):
    """FMD, Fisher vectors."""
    with np.load(FEATURES / "fmd.npz") as file:
        return halves(file["F"].astype(np.float64), file["y"], seed)


def fashion(seed):
    """7,000 training and 3,000 test images of clothes, other ones for each seed."""
    found = data.fashion_with_labels()
    if found is None:
        raise FileNotFoundError(f"no Fashion-MNIST in {data.DATA_HOME}")
    X, y, test, truth = found
    some, others = (np.random.default_rng(seed).permutation(len(part)) for part in (y, truth))
    return X[some[:7000]], y[some[:7000]], test[others[:3000]], truth[others[:3000]]


@dataclass(frozen=True, slots=True)
class Case:
    """A data set, its numbers of atoms, and what the control may choose from."""

    load: Callable
    atoms: tuple[int, ...]
    alphas: tuple[float, ...]
    widths: tuple[float, ...] = (0.3,)  # gamma times the median squared distance
    shifts: bool = False  # whether samples are images that can be moved by a pixel


FEW, BOTH = (0.001, 0.003, 0.01), (0.3, 1.0)
CASES = {
    "digits": Case(digits, (30, 50, 100, 200, 400), (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)),
    "faces": Case(faces, (50, 100, 200, 570), (0.002,)),
    "virus": Case(viruses, (50, 100), FEW, BOTH),
    "words": Case(materials, (50, 100), FEW, BOTH),
    "fisher": Case(fisher, (50, 100), FEW, BOTH),
    "fashion": Case(fashion, (50, 200), (0.002, 0.01), shifts=True),
}


TASK_DRIVEN = {"classifier": "logistic", "training": "task-driven"}
METHODS = {
    "control": {**TASK_DRIVEN, "callback": before_training},
    "task-driven": TASK_DRIVEN,
    "task-driven, landmarks": TASK_DRIVEN,
    "task-driven, points": {**TASK_DRIVEN, "update": "points"},
    "task-driven, landmarks, shifts": {**TASK_DRIVEN, "augment": moved},
    "task-driven, points, shifts": {**TASK_DRIVEN, "update": "points", "augment": moved},
    "joint, linear": {"classifier": "linear"},
    "joint, max-margin": {"classifier": "max-margin"},
    "bilinear control": {"classifier": "bilinear", "eta": NOTHING},
}


def model(settings, n_atoms, X, **options):
    """An unfitted estimator."""
    width, alpha = settings
    kernel = Gaussian(gamma=width / data.median_squared_distance(X[:1500]))
    coder = KernelSparseCoder(kernel, alpha=alpha, n_jobs=1)
    return SupervisedKernelCoding(coder, n_atoms, n_jobs=1, max_iter=ROUNDS, **options)


def choose(case, X, y, n_atoms):
    """The width and alpha of the control that predict a fifth of the training samples best."""
    tried = list(product(case.widths, case.alphas))
    if len(tried) == 1:
        return tried[0]
    rest, part, y_rest, y_part = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    scores = {
        settings: model(settings, n_atoms, rest, **METHODS["control"])
        .fit(rest, y_rest)
        .score(part, y_part)
        for settings in tried
    }
    return max(scores, key=scores.__getitem__)


def stored(found):
    """Bytes of the saved model."""
    with tempfile.TemporaryDirectory() as folder:
        persistence.save(found.set_params(callback=None, augment=None), Path(folder) / "model.kc")
        return (Path(folder) / "model.kc").stat().st_size


def measure(name, split, n_atoms, wanted, book):
    """Methods of a split, each written as soon as it is known."""
    place = {"data": name, "split": split, "atoms": n_atoms}
    there = {r["method"] for r in book.rows if place.items() <= r.items()}
    if there >= set(wanted):
        return
    X, y, test, truth = CASES[name].load(split)
    known = [(r["width"], r["alpha"]) for r in book.rows if place.items() <= r.items()]
    settings = known[0] if known else choose(CASES[name], X, y, n_atoms)
    for method, options in METHODS.items():
        landmarks = 4 * n_atoms if "landmarks" in method else None
        if method in there or method not in wanted or (landmarks or 0) >= len(X):
            continue
        if "shifts" in method and not CASES[name].shifts:
            continue
        begin = time.process_time()
        found = model(settings, n_atoms, X, n_landmarks=landmarks, **options).fit(X, y)
        learned = time.process_time()
        right = found.predict(test) == truth
        book.add(
            **place, method=method, width=settings[0], alpha=settings[1],
            error=100.0 * float(np.mean(~right)), seconds=round(learned - begin, 2),
            prediction=round(1e6 * (time.process_time() - learned) / len(truth), 1),
            bytes=stored(found), kept=found.training_kept_,
        )  # fmt: skip


def machine(name, split, book):
    """SVC beside."""
    place = {"data": name, "split": split, "atoms": 0, "method": "SVC"}
    if not any(place.items() <= r.items() for r in book.rows):
        begin = time.process_time()
        ((accuracy, *_),) = read_machine(None, {}, *CASES[name].load(split))
        book.add(
            **place,
            error=100.0 - 100.0 * float(accuracy),
            seconds=round(time.process_time() - begin, 2),
        )


def show(rows):
    """Errors in %, paired differences from the control, and costs."""
    tables = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        tables[row["data"], row["atoms"]][row["method"]][row["split"]] = row
    for (name, atoms), methods in sorted(tables.items()):
        print(f"\n### {name}, {atoms} atoms\n")
        print(
            "| method | splits | error | minus control | learning, s | prediction, us per sample "
            "| kB | kept |"
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
                  f"| {mean['seconds']:.1f} | {mean['prediction']:.0f} "
                  f"| {mean['bytes'] / 1000:.0f} | {kept} |")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="file of JSON lines, added to")
    parser.add_argument("--stages", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--atoms", type=int, nargs="*", help="default all of a data set")
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--no-svc", action="store_true", help="without SVC beside")
    parser.add_argument("--table", action="store_true", help="only print what the file has")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    book = Book(arguments.out)
    with threadpool_limits(1):
        for name in [] if arguments.table else arguments.stages:
            for split in range(arguments.splits):
                for n_atoms in arguments.atoms or CASES[name].atoms:
                    measure(name, split, n_atoms, arguments.methods, book)
                if not arguments.no_svc:
                    machine(name, split, book)
    show(book.rows)


if __name__ == "__main__":
    main()
