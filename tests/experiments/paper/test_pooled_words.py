"""Materials and scenes by pooled codes, on made pictures."""

from dataclasses import replace

import numpy as np

from helpers.experiments import grating, put, results
from helpers.trees import scenes
from kernelcoding.experiments.features.pooled_codes import LOCAL, SPARSE, PooledCodes
from kernelcoding.experiments.paper import pooled_words
from kernelcoding.experiments.running.runner import run_experiment

CODES = PooledCodes(LOCAL, 8, 8, (16.0,), (1, 2), n_samples=300, n_images=10)
SMALL = replace(pooled_words.QUICK, materials=CODES, scenes=CODES, kinds=(LOCAL, SPARSE))


def test_materials(tmp_path, rng):
    for number in range(20):
        name = ("stone", "wood")[number % 2]
        put(tmp_path / "fmd" / "image" / name / f"{number:02d}.jpg", grating(rng, number % 2))
        whole = np.full((56, 56), 255, np.uint8)
        put(tmp_path / "fmd" / "mask" / name / f"{number:02d}.jpg", whole)
    experiment = pooled_words.fmd_pooled_experiment(SMALL, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert len(found) == 4 * 4
    assert found["LLC, pyramid/linear SVM/None/0"]["value"] > 60
    assert found["sparse codes, whole image/kSC/None/0"]["value"] > 60


def test_scenes(tmp_path, rng):
    train = [f"{name}/{number}.jpg" for name in ("bar", "gym") for number in range(10)]
    test = [f"{name}/t{number}.jpg" for name in ("bar", "gym") for number in range(5)]
    tree = scenes(tmp_path / "scene15", train, test)
    for name in (*train, *test):
        put(tree / "Images" / name, grating(rng, name.startswith("gym")))
    experiment = pooled_words.scene15_pooled_experiment(SMALL, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert len(found) == 16
    assert all(record["configuration"]["test_samples"] == 10 for record in found.values())
    assert found["LLC, pyramid/kLLC/None/0"]["value"] > 60
