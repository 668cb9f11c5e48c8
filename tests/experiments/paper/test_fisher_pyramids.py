"""Materials and scenes by Fisher vectors, on made pictures."""

from dataclasses import replace

from helpers.experiments import put_materials, put_scenes, results
from kernelcoding.experiments.features.fisher_pyramids import FisherPyramid
from kernelcoding.experiments.paper import fisher_pyramids
from kernelcoding.experiments.running.runner import run_experiment

SMALL = replace(
    fisher_pyramids.QUICK,
    pyramid=FisherPyramid(4, 8, 4, 16, (1.0,), ((1, 1),), n_samples=1000, n_images=10),
    sizes=(6,),
)


def test_materials(tmp_path, rng):
    put_materials(tmp_path, rng)
    experiment = fisher_pyramids.fmd_pyramids_experiment(SMALL, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert len(found) == 2 * 8 + 2 * 2
    assert found["Fisher vectors/kSC/None/0"]["value"] > 60
    machine = found["Fisher vectors and a pyramid/linear SVM/None/0"]
    assert machine["value"] > 60
    assert machine["configuration"]["C"] == 10.0


def test_scenes(tmp_path, rng):
    put_scenes(tmp_path, rng)
    experiment = fisher_pyramids.scene15_pyramids_experiment(SMALL, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert len(found) == 20
    assert all(record["configuration"]["test_samples"] == 10 for record in found.values())
    assert found["Fisher vectors/SVC/None/0"]["value"] > 60
