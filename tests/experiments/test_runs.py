"""Every experiment, small: digits whole, faces and viruses on real files, scenes on made ones."""

import base64
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from helpers.trees import VOC_NAMES, real, scenes, voc, write
from kernelcoding import KernelSparseCoder, ResidualClassifier
from kernelcoding.experiments import REGISTRY, digits, fmd, photographs, read_records, virus, yaleb
from kernelcoding.experiments.definition import Dataset, Splits
from kernelcoding.experiments.runner import Selection, installed, run_experiment
from kernelcoding.experiments.splitting import grouped, halves, shuffled_folds
from kernelcoding.experiments.statistics import Covariance, Mixture
from kernelcoding.experiments.words import Vocabulary, frequencies, hellinger, whitened
from kernelcoding.images import RegionCovariance
from kernelcoding.kernels import Gaussian

VOCABULARY = Vocabulary(n_words=40, step=8, n_samples=4000, n_images=30)


def results(path):
    return {record["key"]: record for record in read_records(path)[1:]}


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


def test_all_experiments_are_declared_alike():
    for name, variants in REGISTRY.items():
        for quick, experiment in ((False, variants.full), (True, variants.quick)):
            assert experiment.name == name
            assert experiment.quick == quick
            assert ("Quick version" in experiment.protocol) == quick
            keys = [cell.key for cell in experiment.cells()]
            assert len(keys) == len(set(keys))
            for table in experiment.tables:
                assert table.splits in experiment.splits
                assert all(method.view in experiment.views for method in table.methods)
        full = {cell.key for cell in variants.full.cells()}
        assert len({cell.key for cell in variants.quick.cells()}) < len(full)


def test_the_papers_numbers_are_in_the_tables():
    def numbers(name):
        return sorted(
            cell.paper
            for cell in REGISTRY[name].full.cells()
            if cell.paper is not None and cell.split == 0
        )

    assert numbers("yaleb") == [80.5, 95.0, 96.9, 97.2, 97.2, 98.2, 98.4]
    assert numbers("virus") == sorted(4 * [79.1, 80.0])
    one, four = [46.1, 48.8, 51.6, 52.8, 53.4], [58.5, 59.1]
    assert numbers("fmd") == sorted(2 * one + 3 * four + 2 * [61.8])
    # Each twice: whitened, and not.
    assert numbers("mit-indoor") == [46.6, 46.6, 49.2, 49.2]
    assert numbers("voc2007") == [50.7, 50.7, 51.8, 51.8, 52.6, 52.6]


def test_the_figures_have_all_nine_methods():
    nine = {"SC", "LLC", "kBOW", "kSC", "kLLC", "l-SkSC", "l-SkLLC", "bi-SkSC", "bi-SkLLC"}
    for name in ("fmd", "mit-indoor", "voc2007"):
        table = max(REGISTRY[name].full.tables, key=lambda table: len(table.sizes))
        assert {method.name for method in table.methods} >= nine
        assert len(table.sizes) == 5
    for name in ("yaleb", "fmd"):  # no supervised row without its control
        for table in REGISTRY[name].full.tables:
            names = {method.name for method in table.methods}
            for method in names:
                if "-S" in method and "control" not in method:
                    assert f"{method}, control" in names


@pytest.mark.parametrize("name", ["yaleb", "fmd"])
def test_curves_are_of_the_first_splits(name):
    """A second family with fewer splits, the very same divisions."""
    experiment = REGISTRY[name].full
    assert experiment.tables[-1].splits == "curve"
    assert all(table.splits in ("splits", "learned") for table in experiment.tables[:2])
    many, few = experiment.splits["splits"], experiment.splits["curve"]
    assert (many.count, few.count) == {"yaleb": (5, 3), "fmd": (10, 3)}[name]
    dataset = Dataset(None, np.repeat(np.arange(4), 70), tuple("abcd"))
    for number in range(few.count):
        first, second = many.make(dataset, number), few.make(dataset, number)
        assert first.seed == second.seed
        np.testing.assert_array_equal(first.train, second.train)
        np.testing.assert_array_equal(first.test, second.test)


def test_digits_leave_everything_a_report_shows(tmp_path):
    quick = replace(REGISTRY["digits"].quick, splits={"splits": Splits(1, halves(2, n_train=12))})
    found = results(run_experiment(quick, out=tmp_path, progress=False))
    assert len(found) == len(list(quick.cells()))
    assert all(record["value"] > 60 for record in found.values())
    assert all(record["nonzeros"] > 0 for record in found.values())
    table = "every sample an atom, residual rule"
    pursuit = found[f"{table}/matching pursuit, OMP, Gaussian/None/0"]
    assert pursuit["nonzeros"] == 10
    assert found[f"{table}/bag of words, hard, linear/None/0"]["nonzeros"] == 1
    examples = pursuit["artifacts"]["examples"]
    assert len(examples) == 4
    for example in examples:
        weights = [abs(atom["weight"]) for atom in example["atoms"]]
        assert weights == sorted(weights, reverse=True)
        residuals = example["residuals"]
        assert min(residuals, key=residuals.get) == example["query"]["predicted"]
        for picture in (example["query"]["image"], example["atoms"][0]["image"]):
            assert base64.b64decode(picture.split(",")[1]).startswith(b"\x89PNG")
    # One atom of weight one: its class has the squared distance to it, the others k(x, x) = 1.
    hard = found[f"{table}/bag of words, hard, linear/None/0"]["artifacts"]["examples"]
    for example in hard:
        own = example["residuals"].pop(example["atoms"][0]["label"])
        assert 0 <= own < 1
        assert set(example["residuals"].values()) == {1.0}
    wrong = [e["query"]["label"] != e["query"]["predicted"] for e in examples]
    assert wrong == sorted(wrong, reverse=True)
    learned = found["accuracy against atoms/kSC/20/0"]["artifacts"]
    history, steps = learned["objective_history"], learned["objective_steps"]
    assert len(history) == len(steps) >= 3
    assert steps[:3] == ["codes", "atoms", "codes"]
    assert history[-1] <= history[0]
    assert len(learned["atom_images"]) == 12
    joint = found["accuracy against atoms/l-SkSC/20/0"]["artifacts"]
    assert joint["objective_steps"][:5] == ["codes", "atoms", "codes", "classifier", "atoms"]
    control = found["accuracy against atoms/l-SkSC, control/20/0"]
    assert control["configuration"]["eta"] == 1e-9


def test_digits_as_everybody_runs_them(tmp_path):
    """The residual rule by hand gives the number of the record."""
    name = "sparse coding, Gaussian"
    quick = REGISTRY["digits"].quick
    path = run_experiment(quick, out=tmp_path, selection=Selection(methods=[name]), progress=False)
    (record,) = results(path).values()
    dataset = digits.load(None)
    split = quick.splits["splits"].make(dataset, 0)
    X, Q = dataset.samples[split.train], dataset.samples[split.test]
    distances = 2.0 - 2.0 * (X @ X.T)[np.triu_indices(len(X), 1)]
    coder = KernelSparseCoder(Gaussian(1.0 / np.median(distances)), alpha=0.01)
    model = ResidualClassifier(coder).fit(X, dataset.target[split.train])
    accuracy = 100 * model.score(Q, dataset.target[split.test])
    assert record["value"] == pytest.approx(accuracy, abs=1e-4)
    assert record["nonzeros"] == pytest.approx(
        np.count_nonzero(model.coder_.transform(Q), axis=1).mean(), rel=1e-3
    )


def test_faces_of_five_people(tmp_path):
    home = real("yaleb", "faces_48x42.npz").parent
    scale = replace(
        yaleb.QUICK,
        rounds=1,
        sizes=(20,),
        spaces={
            **yaleb.QUICK.spaces,
            "kSC": {"width": (0.1,), "alpha": (3e-4,)},
            "kLLC": {"width": (0.03,), "n_neighbors": (30,), "regularization": (1e-4,)},
        },
    )
    experiment = replace(
        yaleb.experiment(scale, quick=True, n_atoms=25),
        load=partial(few, yaleb.load, 5, 40),
        splits=dict.fromkeys(("splits", "learned", "curve"), Splits(1, halves(2, n_train=20))),
    )
    path = run_experiment(experiment, home, tmp_path, download=False, progress=False)
    found = results(path)
    there = [cell.key for cell in experiment.cells() if installed(cell)]
    assert sorted(found) == sorted(there)
    values = {key.split("/")[1]: record["value"] for key, record in found.items()}
    assert found["all samples, residual rule/kSC/None/0"]["value"] > 90
    assert values["l-SkSC"] > 70
    lc = found["25 atoms/LC-KSVD/25/0"]
    assert lc["nonzeros"] <= 25
    assert lc["artifacts"]["objective_steps"][:3] == ["codes", "atoms", "codes"]


def test_projections_differ_between_splits_and_have_unit_norm(rng):
    images = rng.integers(0, 256, (12, 10, 8), dtype=np.uint8)
    dataset = Dataset(images, np.arange(12) % 2, ("a", "b"))
    first, second = (yaleb.random_faces(dataset, halves(2)(dataset, number)) for number in range(2))
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1.0)
    assert np.abs(first - second).max() > 1e-3


def test_viruses_of_three_kinds(tmp_path):
    home = real("virus", "images").parent
    experiment = replace(
        virus.experiment(replace(virus.QUICK, n_folds=2), quick=True),
        load=partial(few, virus.load, 3, 20),
        splits={
            name: Splits(1, grouped(shuffled_folds, 4, 2)) for name in ("shuffled", "contiguous")
        },
    )
    chosen = Selection(tables=["ten shuffled folds", "ten shuffled folds, compressed"])
    path = run_experiment(experiment, home, tmp_path, selection=chosen, progress=False)
    found = results(path)
    assert {"kSC", "kLLC", "SVC"} <= {record["method"] for record in found.values()}
    assert all(record["value"] > 33 for record in found.values())
    assert found["ten shuffled folds/kSC/None/0"]["artifacts"]["examples"][0]["query"]["image"]


def test_channels_are_scaled_by_the_training_part_alone(rng):
    patches = list(rng.integers(0, 256, (12, 20, 20), dtype=np.uint8))
    dataset = Dataset(patches, np.arange(12) % 2, ("a", "b"), groups=np.arange(12))
    split = halves(2)(dataset, 0)
    descriptor = RegionCovariance("paper").fit([patches[index] for index in split.train])
    found = virus.covariances("paper", False, dataset, split)
    np.testing.assert_allclose(found, descriptor.transform(patches))
    assert np.abs(found - RegionCovariance("paper").fit_transform(patches)).max() > 1e-3


def grating(rng, angle, size=56):
    """A noisy grating: what tells the made classes apart."""
    rows, columns = np.mgrid[:size, :size]
    phase = rng.uniform(0, 6.3)
    wave = np.sin(0.9 * (np.cos(angle) * columns + np.sin(angle) * rows) + phase)
    return np.clip(128 + 80 * wave + rng.normal(0, 20, (size, size)), 0, 255).astype(np.uint8)


def put(path, pixels):
    cv2 = pytest.importorskip("cv2")
    write(path, cv2.imencode(".jpg", pixels)[1].tobytes())


SMALL = replace(photographs.QUICK, rounds=1, sizes=(12,), vocabulary=VOCABULARY, n_components=20)


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
    experiment = photographs.indoor(SMALL, quick=True)
    path = run_experiment(experiment, indoor_tree, tmp_path, download=False, progress=False)
    found = results(path)
    assert len(found) == 2 * 9
    header = read_records(path)[0]
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
    assert len(results(path)) == 2 * 9
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
    experiment = photographs.voc(SMALL, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert len(found) == 2 * 9
    for record in found.values():
        assert set(record["artifacts"]["per_class"]) == {"bird", "cat", "dog"}
        assert record["configuration"]["folds"] == 1
        assert record["configuration"]["training_samples"] == 27
        assert "confusion" not in record["artifacts"]
    assert max(record["value"] for record in found.values()) > 60


def test_whitening_is_learned_in_the_training_part(rng):
    counts = rng.integers(0, 9, (40, 15)).astype(np.float32)
    dataset = Dataset(counts, np.arange(40) % 2, ("a", "b"))
    split = halves(2)(dataset, 0)
    np.testing.assert_array_equal(frequencies(dataset, split), hellinger(counts))
    first = whitened(6, dataset, split)
    other = counts.copy()
    other[split.test] = 1.0
    second = whitened(6, replace(dataset, samples=other), split)
    np.testing.assert_allclose(first[split.train], second[split.train])
    assert first.shape == (40, 6)
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1.0)
    # All directions of the training part weigh the same before rows are scaled to unit norm.
    histograms = hellinger(counts)[split.train]
    centred = histograms - histograms.mean(axis=0)
    u, _, _ = np.linalg.svd(centred, full_matrices=False)
    expected = u[:, :6] / np.linalg.norm(u[:, :6], axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(first[split.train]), np.abs(expected), atol=1e-8)


def test_materials_of_two_kinds(tmp_path, rng):
    for number in range(20):
        name = ("stone", "wood")[number % 2]
        put(tmp_path / "fmd" / "image" / name / f"{number:02d}.jpg", grating(rng, number % 2))
        mask = np.zeros((56, 56), np.uint8)
        mask[8:48, 8:48] = 255
        put(tmp_path / "fmd" / "mask" / name / f"{number:02d}.jpg", mask)
    scale = replace(
        fmd.QUICK, rounds=1, n_splits=1, curve_splits=1, sizes=(6,), view_sizes=(6,),
        vocabulary=VOCABULARY, mixture=Mixture(2, 4, 8, 400, 10), covariance=Covariance(40, 10),
    )  # fmt: skip
    experiment = fmd.experiment(scale, quick=True)
    path = run_experiment(experiment, tmp_path, tmp_path / "runs", download=False, progress=False)
    found = results(path)
    assert len(found) == len(list(experiment.cells())) == 6 + 2 + 13 + 6 + 2 + 3 + 6
    assert found["all samples, one kernel/kSC/None/0"]["value"] > 60
    chosen = found["all samples, four kernels/kSC/None/0"]["configuration"]
    assert chosen["weights"] in ("equal", "alignment")
    assert chosen["kernel"].startswith("(Linear(), Gaussian(gamma='median')")
    chosen = found["Fisher vectors and colour covariances/kSC/None/0"]["configuration"]
    assert chosen["kernel"].startswith("(View(columns=slice(0, 16, None), kernel=Gaussian(")


def test_hellinger_histograms_are_unit_vectors(rng):
    counts = rng.integers(0, 5, (6, 9)).astype(np.float32)
    counts[2] = 0
    H = hellinger(counts)
    np.testing.assert_allclose(np.linalg.norm(H, axis=1), np.arange(6) != 2)
    np.testing.assert_allclose(H[0] ** 2, counts[0] / counts[0].sum())
