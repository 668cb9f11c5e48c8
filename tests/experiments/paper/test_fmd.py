"""Materials: the whole experiment on made photographs."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.experiments import VOCABULARY, grating, put, results
from kernelcoding.experiments.features.colour_covariances import Covariance
from kernelcoding.experiments.features.fisher_vectors import Mixture
from kernelcoding.experiments.features.patch_vectors import PatchVectors
from kernelcoding.experiments.paper import fmd, fmd_colours, fmd_scale, fmd_views
from kernelcoding.experiments.running.runner import run_experiment


@pytest.fixture
def photographs(tmp_path, rng):
    """Two kinds of gratings, with masks; their folder."""
    for number in range(20):
        name = ("stone", "wood")[number % 2]
        put(tmp_path / "fmd" / "image" / name / f"{number:02d}.jpg", grating(rng, number % 2))
        mask = np.zeros((56, 56), np.uint8)
        mask[8:48, 8:48] = 255
        put(tmp_path / "fmd" / "mask" / name / f"{number:02d}.jpg", mask)
    return tmp_path


SCALE = replace(
    fmd_scale.QUICK, rounds=1, n_splits=1, curve_splits=1, sizes=(6,), view_sizes=(6,),
    read_splits=1, read_sizes=(6,),
    vocabulary=VOCABULARY, mixture=Mixture(2, 4, 8, 400, 10), covariance=Covariance(40, 10),
)  # fmt: skip


def run(experiment, home):
    path = run_experiment(experiment, home, home / "runs", download=False, progress=False)
    return results(path)


def test_materials_of_two_kinds(photographs):
    experiment = fmd.fmd_experiment(SCALE, quick=True)
    found = run(experiment, photographs)
    n_words, n_fisher, n_views = 10 + 9 + 2 * 7 + 8 + 4 + 20 + 8, 10 + 9 + 8 + 4 + 10, 5 + 7
    assert len(found) == len(list(experiment.cells())) == n_words + n_fisher + n_views
    anchor = found["accuracy against atoms/SVC/None/0"]
    assert anchor["value"] == found["all samples, one kernel/SVC/None/0"]["value"]
    assert found["all samples, one kernel/kSC/None/0"]["value"] > 60
    chosen = found["all samples, four kernels/kSC/None/0"]["configuration"]
    assert chosen["weights"] in ("equal", "alignment")
    assert chosen["kernel"].startswith("(Linear(), Gaussian(gamma='median')")
    chosen = found["Fisher vectors and colour covariances/kSC/None/0"]["configuration"]
    assert chosen["kernel"].startswith("(View(columns=slice(0, 16, None), kernel=Gaussian(")


def test_materials_in_colour(photographs):
    experiment = fmd_colours.colours_experiment(SCALE, quick=True)
    found = run(experiment, photographs)
    assert len(found) == len(list(experiment.cells())) == 10 + 5 + 8
    assert found["colour Fisher vectors/kSC/None/0"]["value"] > 60
    chosen = found["three views/kSC/None/0"]["configuration"]["kernel"]
    for part in ("slice(0, 16, None)", "slice(16, 40, None)", "slice(40, None, None)"):
        assert f"View(columns={part}, kernel=Gaussian(gamma='0.3*median'))" in chosen


def test_materials_by_gradients_local_colours_and_pixels(photographs):
    small = {"n_components": 2, "step": 8, "n_samples": 400, "n_images": 10, "mirrored": True}
    views = tuple(
        PatchVectors(kind, n_pca=n_pca, width=width, resolutions=(1.0,), **small)
        for kind, n_pca, width in (("gradients", 4, 16), ("colours", 3, 16), ("pixels", 5, 9))
    )
    experiment = fmd_views.fmd_views_experiment(fmd_views.ViewScale(SCALE, views), quick=True)
    found = run(experiment, photographs)
    assert len(found) == len(list(experiment.cells())) == 3 * 10 + 5 + 5 + 8
    chosen = found["three views/kSC/None/0"]["configuration"]
    for part in ("slice(0, 16, None)", "slice(16, 28, None)", "slice(28, None, None)"):
        assert f"View(columns={part}, kernel=Gaussian(gamma='0.3*median'))" in chosen["kernel"]
    offered = fmd_views.COMBINATIONS["three views"].weights
    assert chosen["weights"] in [str(one) for one in offered]
    assert found["three views/kSC/None/0"]["value"] > 60
    machine = found["gradients and local colours/SVC/None/0"]["configuration"]
    assert "slice(28" not in machine["kernel"]
