"""Scenes and photographs with several labels, in the official layouts, on made pictures."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.io import savemat

from helpers.experiments import VOCABULARY, grating, put, results
from helpers.records import read_lines
from helpers.trees import VOC_NAMES, scenes, voc
from kernelcoding.experiments.paper import photographs
from kernelcoding.experiments.paper.mit_indoor import mit_indoor_experiment
from kernelcoding.experiments.paper.voc2007 import voc2007_experiment
from kernelcoding.experiments.paper.voc2007_words import voc2007_words_experiment
from kernelcoding.experiments.running.runner import Selection, run_experiment

SMALL = replace(photographs.QUICK, rounds=1, sizes=(12,), vocabulary=VOCABULARY, n_components=20)
NINE = {"SC", "LLC", "kBOW", "kSC", "kLLC", "l-SkSC", "l-SkLLC", "bi-SkSC", "bi-SkLLC"}
CONTROLS = {f"{name}, control" for name in NINE if "-Sk" in name}
BESIDE_CURVES = {"kSC, SVM", "kLLC, SVM", "DPL", "kernel DPL"}
EVERY_SAMPLE = {"SVC", "CRC", "kernel CRC", "kSC, all samples"}


@pytest.fixture
def indoor_tree(tmp_path, rng):
    names = ("bar", "closet", "gym")
    train = [f"{name}/{number}.jpg" for name in names for number in range(12)]
    test = [f"{name}/t{number}.jpg" for name in names for number in range(6)]
    tree = scenes(tmp_path / "data", train, test)
    for entry in (*train, *test):
        put(tree / "Images" / entry, grating(rng, names.index(entry.split("/")[0])))
    return tree


def test_scenes_in_the_layout_of_mit_indoor(indoor_tree, tmp_path):
    experiment = mit_indoor_experiment(SMALL, quick=True)
    path = run_experiment(experiment, indoor_tree, tmp_path, download=False, progress=False)
    found = results(path)
    by_size = {None: EVERY_SAMPLE, 12: NINE | CONTROLS | BESIDE_CURVES}
    assert len(found) == 2 * sum(map(len, by_size.values()))
    for size, names in by_size.items():
        assert {one["method"] for one in found.values() if one["size"] == size} == names
    header = read_lines(path)[0]
    assert header["metric"] == "mAP"
    for record in found.values():
        per_class = record["artifacts"]["per_class"]
        assert list(per_class) == ["bar", "closet", "gym"]
        assert record["value"] == pytest.approx(np.mean(list(per_class.values())), abs=1e-2)
    for name in ("mAP against atoms", "mAP against atoms, not whitened"):
        best = max(record["value"] for record in found.values() if record["table"] == name)
        assert best > 70  # gratings are easy; chance is 33
    # A run that goes on finds its words again.
    before = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(before[:-1]))
    kept = list((tmp_path / ".cache").iterdir())
    stamps = [file.stat().st_mtime_ns for file in kept]
    run_experiment(experiment, indoor_tree, tmp_path, download=False, progress=False)
    assert len(results(path)) == len(found)
    assert [file.stat().st_mtime_ns for file in kept] == stamps


def test_photographs_with_several_labels(tmp_path, rng):
    angles = {"bird": 0.0, "cat": 1.0, "dog": 2.0}
    labels, pictures, number = {}, {}, 0
    for part, count in (("train", 15), ("val", 12), ("test", 18)):
        labels[part] = {}
        for _ in range(count):
            number += 1
            there = [name for name in angles if rng.random() < 0.45] or ["bird"]
            values = dict.fromkeys(there, 1)
            if part == "test" and number % 5 == 0:
                values[next(name for name in VOC_NAMES if name not in there)] = 0
            labels[part][f"{number:06d}"] = values
            waves = [grating(rng, angles[name]).astype(float) for name in there]
            pictures[f"{number:06d}"] = np.mean(waves, axis=0).astype(np.uint8)
    tree = voc(tmp_path / "voc2007" / "VOCdevkit" / "VOC2007", labels)
    for name, pixels in pictures.items():
        put(tree / "JPEGImages" / f"{name}.jpg", pixels)
    experiment = voc2007_experiment(SMALL, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert {record["method"] for record in found.values()} == NINE | CONTROLS
    for record in found.values():
        assert set(record["artifacts"]["per_class"]) == {"bird", "cat", "dog"}
        assert record["configuration"]["folds"] == 1
        assert record["configuration"]["training_samples"] == 27
        assert "confusion" not in record["artifacts"]
    assert max(record["value"] for record in found.values()) > 60


def test_words_of_six_classes(tmp_path, rng):
    """A file as the public one, with classes that differ in their words."""
    gnd = np.repeat(np.arange(1, 7), 14)[:, None].astype(np.uint8)
    rates = 1 + 9 * (rng.random((6, 30)) < 0.3)
    counts = rng.poisson(rates[gnd.ravel() - 1]).astype(np.uint16)
    (tmp_path / "voc2007").mkdir()
    savemat(tmp_path / "voc2007" / "six_class_bow.mat", {"fea": counts, "gnd": gnd})
    experiment = voc2007_words_experiment(SMALL, quick=True)
    chosen = Selection(sizes=[None])
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", selection=chosen, progress=False)
    found = {record["method"]: record for record in results(path).values()}
    coders, others = {"SC", "LLC", "kBOW", "kSC", "kLLC"}, {"SVC", "CRC", "kernel CRC"}
    assert set(found) == coders | others | {"DPL", "kernel DPL"}
    for record in found.values():
        assert record["value"] > 80
        assert record["configuration"]["training_samples"] == 42
    curve = experiment.tables[1]
    assert [method.control_of for method in curve.methods[9:13]] == [
        method.name for method in curve.methods[5:9]
    ]
