"""Small experiments that are run whole: a toy whose classifier keeps a diary, made pictures."""

import json
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from helpers.records import read_lines
from helpers.trees import scenes, write
from kernelcoding.experiments.definition import Dataset, Experiment, Method, Splits, Table
from kernelcoding.experiments.features.visual_words import Vocabulary
from kernelcoding.experiments.paper.digits import digits_dataset
from kernelcoding.experiments.running.splitting import halves

CHANGING = ("seconds", "peak_memory_mb", "finished")
VOCABULARY = Vocabulary(n_words=40, step=8, n_samples=4000, n_images=30)


def results(path):
    """The results of a file by key, as they are on the disk."""
    return {line["key"]: line for line in read_lines(path)[1:]}


def stable(found):
    """Results without what differs from run to run.

    The duality gap of an exact code is round-off, which may depend on where the memory of an
    array begins: of a gap far below any tolerance only that is kept.
    """
    kept = {}
    for key, line in found.items():
        fields = {name: value for name, value in line.items() if name not in CHANGING}
        fields["configuration"] = dict(fields["configuration"], search_seconds=None)
        certificate = fields["artifacts"].get("certificate")
        if certificate is not None:
            gap = certificate["gap"]
            fields["artifacts"] = fields["artifacts"] | {
                "certificate": certificate | {"gap": gap if gap > 1e-9 else 0.0}
            }
        kept[key] = fields
    return kept


# A toy -------------------------------------------------------------------------------------------


class Diary(ClassifierMixin, BaseEstimator):
    """A nearest mean that writes down which samples it was fitted to and asked about.

    The first feature of a sample is its number. While the file ``hold`` exists, ``fit`` waits.
    """

    def __init__(self, path, scale=1.0, hold=None):
        self.path = path
        self.scale = scale
        self.hold = hold

    def _note(self, what, X):
        with open(self.path, "a") as file:
            file.write(json.dumps([what, self.scale, X[:, 0].astype(int).tolist()]) + "\n")

    def fit(self, X, y):
        self._note("fit", X)
        while self.hold and Path(self.hold).exists():
            time.sleep(0.01)
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label, 1:].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        self._note("predict", X)
        distances = ((X[:, None, 1:] - self.scale * self.means_) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


def blobs(request):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 1.5 * np.eye(4)[y]
    return Dataset(np.column_stack([np.arange(60), X]), y, ("a", "b", "c"))


def toy(diary, hold=None, n_splits=2):
    """Three methods over splits; the second may be held up."""

    def row(name, hold=None):
        build = partial(build_diary, str(diary), hold)
        return Method(name, build, {"scale": (0.5, 1.0, 4.0)})

    rows = (row("first"), row("second", hold), row("third"))
    return Experiment(
        "toy", "Toy", "None.", "accuracy", blobs, {"splits": Splits(n_splits, halves(3))},
        (Table("table", rows, paper={("first", None): 90.0}),),
    )  # fmt: skip


def build_diary(path, hold, settings, n_atoms):
    return Diary(path, settings["scale"], hold)


def entries(diary):
    return [json.loads(line) for line in Path(diary).read_text().splitlines()]


def few_digits(count, request):
    """The first digits of the set."""
    whole = digits_dataset(request)
    return replace(
        whole,
        samples=whole.samples[:count],
        target=whole.target[:count],
        pictures=whole.pictures[:count],
    )


# Sets of pictures --------------------------------------------------------------------------------


def few(load, n_classes, n_each, request):
    """The first classes of a real set, some samples of each."""
    whole = load(request)
    rows = np.concatenate([np.flatnonzero(whole.target == c)[:n_each] for c in range(n_classes)])
    groups = None if whole.groups is None else whole.groups[rows]
    samples = [whole.samples[row] for row in rows]
    samples = np.stack(samples) if isinstance(samples[0], np.ndarray) else samples
    return Dataset(
        samples, whole.target[rows], whole.names[:n_classes], groups=groups, pictures=samples
    )


def grating(rng, angle, size=56):
    """A noisy grating: what tells the made classes apart."""
    rows, columns = np.mgrid[:size, :size]
    phase = rng.uniform(0, 6.3)
    wave = np.sin(0.9 * (np.cos(angle) * columns + np.sin(angle) * rows) + phase)
    return np.clip(128 + 80 * wave + rng.normal(0, 20, (size, size)), 0, 255).astype(np.uint8)


def put(path, pixels):
    cv2 = pytest.importorskip("cv2")
    write(path, cv2.imencode(".jpg", pixels)[1].tobytes())


def put_materials(home, rng):
    """Twenty made pictures of two materials, with masks, in the layout of FMD."""
    for number in range(20):
        name = ("stone", "wood")[number % 2]
        put(home / "fmd" / "image" / name / f"{number:02d}.jpg", grating(rng, number % 2))
        whole = np.full((56, 56), 255, np.uint8)
        put(home / "fmd" / "mask" / name / f"{number:02d}.jpg", whole)


def put_scenes(home, rng):
    """Twenty made pictures of two scenes to learn from and ten to be asked about."""
    train = [f"{name}/{number}.jpg" for name in ("bar", "gym") for number in range(10)]
    test = [f"{name}/t{number}.jpg" for name in ("bar", "gym") for number in range(5)]
    tree = scenes(home / "scene15", train, test)
    for name in (*train, *test):
        put(tree / "Images" / name, grating(rng, name.startswith("gym")))
