"""Codes of learned dictionaries read in five ways, on counts of visual words.

``python -m benchmarks.residual_accuracy --words FILE --out FOLDER`` runs the rows that
``kernelcoding reproduce fmd`` has ("read in four ways"), and supervised ones, on a MATLAB file with
counts ``fea`` (n, words) and labels ``gnd`` (n, 1), and prints means and deviations over splits.
Words become square roots of frequencies. What is in FOLDER already is not run again.
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from kernelcoding.experiments.definition import Dataset, Experiment, Splits, Table
from kernelcoding.experiments.rows.one_kernel import CODERS_READ, reading_rows, supervised_row
from kernelcoding.experiments.running.runner import run_experiment
from kernelcoding.experiments.running.splitting import halves
from kernelcoding.kernels import Gaussian
from kernelcoding.records import read_runs, tables_of

N_SPLITS, N_FOLDS, ROUNDS, SIZES = 5, 2, 5, (100,)
SPACES = {
    "kSC, read": {"width": (0.3, 1.0), "alpha": (1e-3, 1e-2)},
    "kLLC, read": {"width": (0.3, 1.0), "n_neighbors": (30, 100), "regularization": (1e-2,)},
}


def words(path, request):
    """Square roots of frequencies."""
    found = loadmat(path)
    counts, labels = found["fea"].astype(np.float64), found["gnd"].ravel()
    names, target = np.unique(labels, return_inverse=True)
    samples = np.sqrt(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0))
    return Dataset(samples, target, tuple(str(name) for name in names))


def rows():
    joint = (
        supervised_row(f"l-S{name}", coder, "linear", Gaussian(), SPACES[f"{name}, read"], ROUNDS)
        for name, coder in CODERS_READ
    )
    return (*reading_rows(SPACES, ROUNDS, (1.0, 10.0)), *joint)


def experiment(path):
    return Experiment(
        name="words",
        title="Visual words, learned dictionaries read in five ways",
        protocol="Half of each class for training; settings by two folds of the training half.",
        metric="accuracy",
        load=partial(words, path),
        splits={"splits": Splits(N_SPLITS, halves(N_FOLDS))},
        tables=(Table("words", rows(), sizes=SIZES),),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    written = run_experiment(experiment(given.words), out=given.out, download=False)
    for recorded in read_runs(written).experiments:
        print(*tables_of(recorded.results), sep="\n")


if __name__ == "__main__":
    main()
