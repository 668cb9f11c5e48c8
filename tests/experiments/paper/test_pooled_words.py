"""Materials, scenes and faces by pooled codes, on made pictures."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.experiments import few, put_materials, put_scenes, results
from helpers.trees import real
from kernelcoding.experiments.definition import Dataset, Splits
from kernelcoding.experiments.features.pooled_codes import LOCAL, SPARSE, PooledCodes
from kernelcoding.experiments.paper import pooled_words, yaleb
from kernelcoding.experiments.running.runner import Selection, run_experiment
from kernelcoding.experiments.running.splitting import halves

CODES = PooledCodes(LOCAL, 8, 8, (16.0,), (1, 2), n_samples=300, n_images=10)
SMALL = replace(
    pooled_words.QUICK, materials=CODES, scenes=CODES, faces=CODES, kinds=(LOCAL, SPARSE)
)
ROWS = {"linear SVM", "SVC", "kSC", "kLLC", "CRC", "kernel CRC", "DPL", "kernel DPL"}


def test_materials(tmp_path, rng):
    put_materials(tmp_path, rng)
    experiment = pooled_words.fmd_pooled_experiment(SMALL, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert len(found) == 4 * len(ROWS)
    assert {record["method"] for record in found.values()} == ROWS
    assert found["LLC, pyramid/linear SVM/None/0"]["value"] > 60
    assert found["sparse codes, whole image/kSC/None/0"]["value"] > 60


def test_scenes(tmp_path, rng):
    put_scenes(tmp_path, rng)
    experiment = pooled_words.scene15_pooled_experiment(SMALL, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert len(found) == 4 * len(ROWS)
    assert all(record["configuration"]["test_samples"] == 10 for record in found.values())
    assert found["LLC, pyramid/kLLC/None/0"]["value"] > 60


def test_faces(tmp_path):
    """Five people of the real set, whose pixels are not in files of their own."""
    home = real("yaleb", "faces_48x42.npz").parent

    def few_faces(request):
        whole = few(yaleb.yaleb_dataset, 5, 30, request)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pooled_words, "yaleb_dataset", lambda _: whole)
            return pooled_words.faces(SMALL, request)

    experiment = replace(
        pooled_words.yaleb_pooled_experiment(SMALL, quick=True),
        load=few_faces,
        splits={"splits": Splits(1, halves(2, n_train=15))},
    )
    chosen = Selection(tables=["LLC, whole image", "LLC, pyramid"])
    path = run_experiment(
        experiment, home, tmp_path, selection=chosen, download=False, progress=False
    )
    found = results(path)
    assert len(found) == 2 * len(ROWS)
    whole, cells = (found[f"LLC, {how}/kSC/None/0"]["value"] for how in ("whole image", "pyramid"))
    assert cells > max(60, whole)  # places tell faces apart


def test_faces_are_divided_as_in_yaleb():
    dataset = Dataset(None, np.repeat(np.arange(3), 60), tuple("abc"))
    plain, found = yaleb.VARIANTS.full, pooled_words.FACES.full
    assert plain.splits["splits"].count == found.splits["splits"].count
    for number in range(2):
        first, second = (one.splits["splits"].make(dataset, number) for one in (plain, found))
        np.testing.assert_array_equal(first.train, second.train)
