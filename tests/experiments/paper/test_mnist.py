"""Digits: made pictures in the files of the set."""

from dataclasses import replace

import numpy as np

from helpers.experiments import results
from helpers.trees import pictures_of_prototypes
from kernelcoding.experiments.paper.mnist import QUICK, mnist_experiment, moved
from kernelcoding.experiments.running.runner import run_experiment


def test_pictures_move_by_a_pixel_at_most(rng):
    pictures = rng.integers(1, 9, (200, 5, 5)).astype(float)
    seen = set()
    found = moved(pictures.reshape(200, 25), np.random.RandomState(0))
    for before, after in zip(pictures, found, strict=True):
        padded = np.pad(before, 1)
        places = [
            (down, right)
            for down in range(3)
            for right in range(3)
            if np.array_equal(padded[down : down + 5, right : right + 5], after.reshape(5, 5))
        ]
        assert len(places) == 1
        seen.update(places)
    assert len(seen) == 9


def test_trained_atoms_beside_their_control(tmp_path, rng):
    pictures_of_prototypes(tmp_path / "mnist", rng, noise=255)
    scale = replace(QUICK, n_train=120, n_test=30, sizes=(10,), class_sizes=(5,), n_landmarks=60)
    experiment = mnist_experiment(scale, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    records = list(results(path).values())
    found = {record["method"]: record for record in records if record["size"] != 5}
    (per_class,) = (record for record in records if record["size"] == 5)
    trained = {f"td-{code}{how}" for code in ("SC", "kSC") for how in ("", ", control", ", shifts")}
    assert set(found) == {*trained, "DPL", "kernel DPL", "SVC"}
    assert (per_class["table"], per_class["method"]) == ("a dictionary per class", "td-kSC, shifts")
    for record in records:
        assert record["value"] > 60
        assert record["configuration"]["training_samples"] == 120
