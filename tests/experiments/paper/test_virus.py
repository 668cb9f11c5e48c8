"""Viruses: three kinds of the real set, and scales of channels."""

from dataclasses import replace
from functools import partial

import numpy as np

from helpers.experiments import results
from helpers.trees import real
from kernelcoding.experiments.definition import Dataset, Splits
from kernelcoding.experiments.paper import virus
from kernelcoding.experiments.running.runner import Selection, run_experiment
from kernelcoding.experiments.running.splitting import grouped_folds, halves, shuffled_folds
from kernelcoding.images import RegionCovariance


def few_viruses(n_classes, n_each, request):
    """The first classes, some patches of each."""
    whole = virus.virus_dataset(virus.QUICK, request)
    rows = np.concatenate([np.flatnonzero(whole.target == c)[:n_each] for c in range(n_classes)])
    patches = whole.samples[rows]
    return Dataset(
        patches,
        whole.target[rows],
        whole.names[:n_classes],
        None,
        whole.groups[rows],
        patches.paths,
    )


def test_viruses_of_three_kinds(tmp_path):
    home = real("virus", "images").parent
    experiment = replace(
        virus.virus_experiment(replace(virus.QUICK, n_folds=2), quick=True),
        load=partial(few_viruses, 3, 20),
        splits={
            name: Splits(1, grouped_folds(shuffled_folds, 4, 2))
            for name in ("shuffled", "contiguous")
        },
    )
    tables = [table.name for table in experiment.tables if "shuffled" in table.name]
    assert len(tables) == 6
    chosen = Selection(tables=tables)
    path = run_experiment(experiment, home, tmp_path, selection=chosen, progress=False)
    found = results(path)
    assert {"kSC", "kLLC", "SVC"} <= {record["method"] for record in found.values()}
    assert all(record["value"] > 33 for record in found.values())
    assert found["ten shuffled folds/kSC/None/0"]["artifacts"]["examples"][0]["query"]["image"]


def test_channels_are_scaled_by_the_training_part_alone(rng):
    patches = list(rng.integers(0, 256, (12, 20, 20), dtype=np.uint8))
    samples = virus.VirusPatches(patches, None, virus.QUICK)
    dataset = Dataset(samples, np.arange(12) % 2, ("a", "b"), groups=np.arange(12))
    split = halves(2)(dataset, 0)
    descriptor = RegionCovariance("paper").fit([patches[index] for index in split.train])
    found = virus.covariances("paper", False, dataset, split)
    np.testing.assert_allclose(found, descriptor.transform(patches))
    assert np.abs(found - RegionCovariance("paper").fit_transform(patches)).max() > 1e-3
