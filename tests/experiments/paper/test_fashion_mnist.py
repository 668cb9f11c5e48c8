"""Clothes: made pictures in the files of the set."""

import numpy as np

import kernelcoding as kc
from helpers.experiments import results
from helpers.trees import write
from kernelcoding.dictionary import point_gram
from kernelcoding.experiments.paper.fashion_mnist import fashion_mnist_experiment
from kernelcoding.experiments.running.runner import Selection, run_experiment


def put_files(home, part, images, labels):
    for kind, values in (("images-idx3", images), ("labels-idx1", labels)):
        head = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
        write(home / "fashion_mnist" / f"{part}-{kind}-ubyte", head + values.tobytes())


def test_samples_as_atoms_and_learned_ones(tmp_path, rng, monkeypatch):
    prototypes = rng.integers(0, 256, (10, 28, 28))
    for part, n in (("train", 130), ("t10k", 40)):
        labels = np.arange(n, dtype=np.uint8) % 10
        noise = rng.integers(-60, 60, (n, 28, 28))
        images = np.clip(prototypes[labels] + noise, 0, 255).astype(np.uint8)
        put_files(tmp_path, part, images, labels)
    monkeypatch.setattr("kernelcoding.experiments.paper.fashion_mnist.N_LANDMARKS", 60)
    experiment = fashion_mnist_experiment((80, 120), 20, 30, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert {(record["method"], record["size"]) for record in found.values()} == {
        ("kLLC", 80), ("kLLC", 120), ("kSC, 300 candidates", 80), ("kSC, 300 candidates", 120),
        ("kSC", 80), ("kSC", 120), ("l-SkSC", 20), ("5-NN", None), ("SVC", None),
        ("CRC", 80), ("kernel CRC", 80), ("DPL", 20), ("kernel DPL", 20),
    }  # fmt: skip
    for record in found.values():
        assert record["value"] > 90
        assert record["configuration"]["training_samples"] == 120
        assert record["configuration"]["test_samples"] == 30
    assert found["samples as atoms/kLLC/120/0"]["nonzeros"] <= 50


def test_no_gram_matrix_is_computed_for_a_record(tmp_path, rng, monkeypatch):
    """Codes over so many samples do without it, and so must what is written about them."""
    for part, n in (("train", 130), ("t10k", 40)):
        labels = np.arange(n, dtype=np.uint8) % 10
        images = rng.integers(0, 256, (n, 28, 28)).astype(np.uint8)
        put_files(tmp_path, part, images, labels)
    monkeypatch.setattr(point_gram, "SMALL", 0)
    experiment = fashion_mnist_experiment((80, 120), 20, 30, quick=True)
    chosen = Selection(tables=["samples as atoms"], sizes=[120])
    with kc.memory_budget(1e-5):
        path = run_experiment(
            experiment, tmp_path, tmp_path / "runs", selection=chosen, progress=False
        )
    assert len(results(path)) == 3
