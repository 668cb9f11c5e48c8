"""Faces: five people of the real set, and projections."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np

from helpers.experiments import few, results
from helpers.trees import real
from kernelcoding.experiments.definition import Dataset, Splits
from kernelcoding.experiments.paper import yaleb, yaleb_roots
from kernelcoding.experiments.running.runner import installed, run_experiment
from kernelcoding.experiments.running.splitting import halves


def test_faces_of_five_people(tmp_path):
    home = real("yaleb", "faces_48x42.npz").parent
    scale = replace(
        yaleb.QUICK,
        rounds=1,
        sizes=(20, 21),
        spaces={
            **yaleb.QUICK.spaces,
            "kSC": {"width": (0.1,), "alpha": (3e-4,)},
            "kLLC": {"width": (0.03,), "n_neighbors": (30,), "regularization": (1e-4,)},
            "kLLC, width": {"n_neighbors": (30,), "regularization": (1e-4,)},
        },
    )
    experiment = replace(
        yaleb.yaleb_experiment(scale, quick=True, n_atoms=25),
        load=partial(few, yaleb.yaleb_dataset, 5, 40),
        splits=dict.fromkeys(
            ("splits", "learned", "curve", "more"), Splits(1, halves(2, n_train=20))
        ),
    )
    with warnings.catch_warnings():  # the printed ratio ends where its range does
        warnings.filterwarnings("ignore", "Kernel learning ended at a bound")
        warnings.filterwarnings("ignore", "The ratio of kernel learning")
        path = run_experiment(experiment, home, tmp_path, download=False, progress=False)
    found = results(path)
    there = [cell.key for cell in experiment.cells() if installed(cell)]
    assert sorted(found) == sorted(there)
    values = {key.split("/")[1]: record["value"] for key, record in found.items()}
    assert found["all samples, residual rule/kSC/None/0"]["value"] > 90
    assert values["l-SkSC"] > 70
    assert values["kSC, residuals"] > 90
    assert values["kSC, class-wise"] > 90
    assert values["kSC, residuals, start without labels"] > 85
    assert values["kernel K-SVD"] > 75
    assert found["all samples, residual rule/CRC/None/0"]["value"] > 90
    assert values["kernel CRC"] > 60
    assert values["kSC, held-out"] >= values["kSC, median"] - 5
    assert found["25 atoms, sparser SRC/SRC, 5 atoms a code/25/0"]["nonzeros"] <= 5
    lc = found["25 atoms/LC-KSVD/25/0"]
    assert lc["nonzeros"] <= 25
    assert lc["artifacts"]["objective_steps"][:3] == ["codes", "atoms", "codes"]


def test_square_roots_of_pixels():
    """The same splits and rows, other features, of which light takes less away."""
    plain, roots = yaleb.VARIANTS.full, yaleb_roots.VARIANTS.full
    counts, same = (
        {name: part.count for name, part in experiment.splits.items()}
        for experiment in (plain, roots)
    )
    assert same == counts
    assert counts["more"] == 2 * counts["learned"]
    every, names, paired, few = (
        {method.name for method in table.methods} for table in roots.tables
    )
    assert every == {method.name for method in plain.tables[0].methods}
    assert {"kSC, residuals", "kLLC, residuals", "l-SkSC", "l-SkSC, control"} <= names
    assert {"kSC, SVM", "l-SkSC", "l-SkSC, control", "DPL", "kernel DPL"} <= few
    assert {"l-SkSC", "l-SkSC, control", "mm-SkSC", "mm-SkSC, control"} <= paired
    for method in roots.tables[2].methods:
        assert all(len(values) == 1 for values in method.space.values())
    assert {"kSC, SVM", "kLLC, SVM", "SRC", "CRC", "kernel CRC", "DPL", "kernel DPL"} <= names
    images = np.arange(1, 121, dtype=np.uint8).reshape(12, 5, 2)
    dataset = Dataset(images, np.arange(12) % 2, ("a", "b"))
    split = halves(2)(dataset, 0)
    found = roots.views["samples"](dataset, split)
    expected = yaleb.random_faces(replace(dataset, samples=np.sqrt(images / 255)), split)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_projections_differ_between_splits_and_have_unit_norm(rng):
    images = rng.integers(0, 256, (12, 10, 8), dtype=np.uint8)
    dataset = Dataset(images, np.arange(12) % 2, ("a", "b"))
    first, second = (yaleb.random_faces(dataset, halves(2)(dataset, number)) for number in range(2))
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1.0)
    assert np.abs(first - second).max() > 1e-3
