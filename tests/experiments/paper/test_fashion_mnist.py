"""Clothes: made pictures in the files of the set."""

import kernelcoding as kc
from helpers.experiments import results
from helpers.trees import pictures_of_prototypes
from kernelcoding.dictionary import point_gram
from kernelcoding.experiments.paper.fashion_mnist import fashion_mnist_experiment
from kernelcoding.experiments.running.runner import Selection, run_experiment


def test_samples_as_atoms_and_learned_ones(tmp_path, rng, monkeypatch):
    pictures_of_prototypes(tmp_path / "fashion_mnist", rng)
    monkeypatch.setattr("kernelcoding.experiments.paper.fashion_mnist.N_LANDMARKS", 60)
    experiment = fashion_mnist_experiment((80, 120), 20, 30, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert {(record["method"], record["size"]) for record in found.values()} == {
        ("kLLC", 80), ("kLLC", 120), ("kSC, 300 candidates", 80), ("kSC, 300 candidates", 120),
        ("kSC", 80), ("kSC", 120), ("CRC", 80), ("kernel CRC", 80), ("5-NN", None), ("SVC", None),
        ("l-SkSC", 20), ("l-SkSC, control", 20), ("DPL", 20), ("kernel DPL", 20),
    }  # fmt: skip
    for record in found.values():
        assert record["value"] > 90
        assert record["configuration"]["training_samples"] == 120
        assert record["configuration"]["test_samples"] == 30
    assert found["samples as atoms/kLLC/120/0"]["nonzeros"] <= 50


def test_no_gram_matrix_is_computed_for_a_record(tmp_path, rng, monkeypatch):
    """Codes over so many samples do without it, and so must what is written about them."""
    pictures_of_prototypes(tmp_path / "fashion_mnist", rng)
    monkeypatch.setattr(point_gram, "SMALL", 0)
    experiment = fashion_mnist_experiment((80, 120), 20, 30, quick=True)
    chosen = Selection(tables=["samples as atoms"], sizes=[120])
    with kc.memory_budget(1e-5):
        path = run_experiment(
            experiment, tmp_path, tmp_path / "runs", selection=chosen, progress=False
        )
    assert len(results(path)) == 3
