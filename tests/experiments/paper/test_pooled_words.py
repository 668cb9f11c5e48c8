"""Materials and scenes by pooled codes, on made pictures."""

from dataclasses import replace

from helpers.experiments import put_materials, put_scenes, results
from kernelcoding.experiments.features.pooled_codes import LOCAL, SPARSE, PooledCodes
from kernelcoding.experiments.paper import pooled_words
from kernelcoding.experiments.running.runner import run_experiment

CODES = PooledCodes(LOCAL, 8, 8, (16.0,), (1, 2), n_samples=300, n_images=10)
SMALL = replace(pooled_words.QUICK, materials=CODES, scenes=CODES, kinds=(LOCAL, SPARSE))


def test_materials(tmp_path, rng):
    put_materials(tmp_path, rng)
    experiment = pooled_words.fmd_pooled_experiment(SMALL, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert len(found) == 4 * 4
    assert found["LLC, pyramid/linear SVM/None/0"]["value"] > 60
    assert found["sparse codes, whole image/kSC/None/0"]["value"] > 60


def test_scenes(tmp_path, rng):
    put_scenes(tmp_path, rng)
    experiment = pooled_words.scene15_pooled_experiment(SMALL, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert len(found) == 16
    assert all(record["configuration"]["test_samples"] == 10 for record in found.values())
    assert found["LLC, pyramid/kLLC/None/0"]["value"] > 60
