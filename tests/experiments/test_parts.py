"""Parts of experiments: measures, materials, splits, small classifiers, pictures."""

import base64

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import average_precision_score
from sklearn.neighbors import KNeighborsClassifier

from kernelcoding import KernelSparseCoder, ResidualClassifier
from kernelcoding.experiments import progress
from kernelcoding.experiments.artifacts import mean_nonzeros
from kernelcoding.experiments.asking import ask
from kernelcoding.experiments.definition import Dataset
from kernelcoding.experiments.material import Grams, Samples, Stacks, material_of
from kernelcoding.experiments.measure import measured
from kernelcoding.experiments.metrics import METRICS, Answers, eleven_points
from kernelcoding.experiments.models import Encoded, NearestCode, SampledAtoms
from kernelcoding.experiments.pictures import data_uri
from kernelcoding.experiments.progress import Bar, Lines, duration, watched
from kernelcoding.experiments.splitting import (
    contiguous_folds,
    grouped,
    halves,
    official,
    shuffled_folds,
    with_validation,
)
from kernelcoding.kernels import Gaussian, Linear, Polynomial, Sigmoid


def slow_eleven_points(truth, scores):
    """Walk down the ranking, as the development kit does (scores without ties)."""
    hits, curve = 0, []
    for rank, sample in enumerate(np.argsort(-scores), start=1):
        hits += truth[sample]
        curve.append((hits / truth.sum(), hits / rank))
    best = [max(p for r, p in curve if r >= level / 10 - 1e-9) for level in range(11)]
    return sum(best) / 11


@pytest.mark.parametrize("positives", [1, 3, 17])
def test_eleven_points_equal_a_walk_down_the_ranking(rng, positives):
    truth = np.arange(40) < positives
    for _ in range(5):
        scores = rng.normal(size=40)
        assert eleven_points(truth, scores) == pytest.approx(slow_eleven_points(truth, scores))


def test_difficult_samples_and_absent_classes_do_not_count(rng):
    target = rng.random((30, 4)) < 0.4
    target[:, 3] = False
    difficult = (rng.random((30, 4)) < 0.2) & ~target
    answers = Answers(None, rng.normal(size=(30, 4)))
    metric = METRICS["mAP"]
    per_class = metric.per_class(target, answers, difficult)
    expected = []
    for label in range(3):
        kept = ~difficult[:, label]
        score = average_precision_score(target[kept, label], answers.scores[kept, label])
        expected.append(100 * score)
    assert_allclose(per_class[:3], expected)
    assert np.isnan(per_class[3])
    assert metric.value(target, answers, difficult) == pytest.approx(np.mean(expected))
    assert metric.value(target, answers, None) != pytest.approx(np.mean(expected))


def test_one_label_a_sample_is_an_indicator_for_precision(rng):
    y = rng.integers(0, 3, 20)
    answers = Answers(None, rng.normal(size=(20, 3)))
    both = [METRICS["mAP"].value(target, answers, None) for target in (y, np.eye(3, dtype=int)[y])]
    assert both[0] == both[1]
    assert METRICS["accuracy"].value(y, Answers(np.where(y == 0, 1, y), None), None) == (
        100 * np.mean(y != 0)
    )


def test_scores_of_classes_nobody_was_fitted_to_are_lowest(rng):
    X, y = rng.normal(size=(30, 3)), rng.choice([0, 2, 3], 30)
    answers = ask(NearestCode().fit(X, y), X, METRICS["mAP"], 5)
    assert answers.scores.shape == (30, 5)
    assert (answers.scores[:, [1, 4]] < answers.scores[:, [0, 2, 3]].min()).all()
    assert_array_equal(answers.scores.argmax(axis=1), y)
    two = ask(NearestCode().fit(X, y == 2), X, METRICS["mAP"], 2)
    assert_array_equal(two.scores.argmax(axis=1), y == 2)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_nearest_code_is_the_nearest_neighbour(rng, metric):
    X, Q, y = rng.normal(size=(40, 5)), rng.normal(size=(25, 5)), rng.integers(0, 4, 40)
    ours = NearestCode(metric).fit(X, y)
    peer = KNeighborsClassifier(1, metric=metric).fit(X, y)
    assert_array_equal(ours.predict(Q), peer.predict(Q))
    scores = ours.decision_function(Q)
    assert_array_equal(scores > 0, ours.predict(Q)[:, None] == np.arange(4))
    labels = rng.random((40, 4)) < 0.3
    several = NearestCode(metric).fit(X, labels)
    nearest = peer.kneighbors(Q, return_distance=False)[:, 0]
    assert_array_equal(several.predict(Q), labels[nearest])
    assert_array_equal(several.decision_function(Q) > 0, labels[nearest])


def test_sampled_atoms_are_a_balanced_few(digits):
    X, y = digits[0], np.arange(80) % 4
    model = SampledAtoms(ResidualClassifier(KernelSparseCoder("linear")), n_atoms=22).fit(X, y)
    assert sorted(np.bincount(y[model.sampled_])) == [5, 5, 6, 6]
    direct = ResidualClassifier(KernelSparseCoder("linear"))
    direct.fit(X[model.sampled_], y[model.sampled_])
    assert_array_equal(model.predict(digits[1]), direct.predict(digits[1]))
    assert_allclose(model.decision_function(digits[1]), direct.decision_function(digits[1]))


def test_encoded_is_encoder_then_head(digits):
    X, Q = digits
    y = np.arange(80) % 4
    coder = KernelSparseCoder(atoms=20, random_state=0)
    model = Encoded(coder, NearestCode()).fit(X, y)
    codes = coder.fit(X)
    expected = NearestCode().fit(codes.transform(X), y).predict(codes.transform(Q))
    assert_array_equal(model.predict(Q), expected)


def test_grams_are_the_kernel_at_multiples_of_the_median_width(digits):
    X, Q = digits
    grams = Grams(Gaussian(), X, Q)
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    unit = 1.0 / np.median(distances[np.triu_indices(80, 1)])
    for width in (0.3, 2.0):
        kernel = Gaussian(width * unit)
        assert_allclose(grams.training(width).values, kernel(X), atol=1e-10)
        assert_allclose(grams.queries(width), kernel(Q, X), atol=1e-10)
    plain = Grams(Linear(), X, Q)
    assert_allclose(plain.training(None).values, X @ X.T)
    assert_allclose(plain.queries(None), Q @ X.T)


def test_stacks_have_kernels_of_equal_size(digits):
    X, Q = digits
    kernels = (Linear(), Gaussian("median"), Polynomial(2, gamma="scale"), Sigmoid(gamma="scale"))
    stack = material_of(kernels, X, Q)
    assert isinstance(stack, Stacks)
    values = stack.training(None).values
    assert_allclose([abs(np.diag(values[:, :, k]).mean()) for k in range(4)], 1.0)
    quadratic = kernels[2].resolve(X)
    unit = np.diag(quadratic(X)).mean()
    assert_allclose(values[:, :, 2], quadratic(X) / unit)
    assert_allclose(stack.queries(None)[:, :, 2], quadratic(Q, X) / unit)


def test_folds_of_the_training_part_are_rows_and_columns(digits):
    X, Q = digits
    fitted, asked = np.array([3, 1, 7]), np.array([0, 2])
    plain = Samples(X, Q).training(None)
    assert_array_equal(plain.fitted(fitted), X[fitted])
    assert_array_equal(plain.asked(asked, fitted), X[asked])
    gram = Grams(Linear(), X, Q).training(None)
    assert_allclose(gram.fitted(fitted), X[fitted] @ X[fitted].T)
    assert_allclose(gram.asked(asked, fitted), X[asked] @ X[fitted].T)


def check_partition(split, n):
    assert_array_equal(np.sort(np.concatenate([split.train, split.test])), np.arange(n))
    for fitted, asked in split.folds:
        assert_array_equal(np.sort(np.concatenate([fitted, asked])), np.arange(len(split.train)))


def test_halves_are_halves_of_every_class():
    y = np.repeat(np.arange(5), [10, 12, 9, 20, 11])
    dataset = Dataset(np.zeros((62, 1)), y, tuple("abcde"))
    splits = [halves(3)(dataset, number) for number in range(4)]
    for split in splits:
        check_partition(split, 62)
        assert_array_equal(np.bincount(y[split.train]), [5, 6, 4, 10, 5])
        asked = np.sort(np.concatenate([fold[1] for fold in split.folds]))
        assert_array_equal(asked, np.arange(30))
    assert len({split.train.tobytes() for split in splits}) == 4
    assert_array_equal(halves(3)(dataset, 2).train, splits[2].train)
    assert_array_equal(np.bincount(y[halves(3, 7)(dataset, 0).train]), np.full(5, 7))


@pytest.mark.parametrize("numbers", [shuffled_folds, contiguous_folds])
def test_folds_keep_copies_together_and_classes_balanced(numbers):
    y = np.repeat(np.arange(3), 40)
    groups = np.arange(120)
    groups[[7, 33]] = 7
    groups[[50, 61, 79]] = 50
    dataset = Dataset(np.zeros((120, 1)), y, tuple("abc"), groups=groups)
    make = grouped(numbers, 10, 4)
    tests = []
    for number in range(10):
        split = make(dataset, number)
        check_partition(split, 120)
        assert not set(groups[split.train]) & set(groups[split.test])
        assert abs(np.bincount(y[split.test], minlength=3) - 4).max() <= 2
        inner = groups[split.train]
        for fitted, asked in split.folds:
            assert not set(inner[fitted]) & set(inner[asked])
        tests.append(split.test)
    assert_array_equal(np.sort(np.concatenate(tests)), np.arange(120))


def test_contiguous_folds_are_blocks():
    y = np.repeat(np.arange(2), 20)
    assert_array_equal(contiguous_folds(y, np.arange(40), 5, 0), np.tile(np.repeat(range(5), 4), 2))
    assert (np.diff(shuffled_folds(y, np.arange(40), 5, 0)) < 0).any()


def test_official_lists_are_taken_as_they_are():
    parts = {"train": np.array([4, 0, 2, 5]), "val": np.array([1, 3]), "test": np.array([7, 6])}
    y = np.array([0, 1, 0, 0, 1, 1, 0, 1])
    dataset = Dataset(np.zeros((8, 1)), y, ("a", "b"), parts=parts)
    split = official(2)(dataset, 0)
    assert_array_equal(split.train, parts["train"])
    assert_array_equal(split.test, parts["test"])
    split = with_validation(dataset, 0)
    assert_array_equal(split.train, [4, 0, 2, 5, 1, 3])
    ((fitted, asked),) = split.folds
    assert_array_equal(split.train[fitted], parts["train"])
    assert_array_equal(split.train[asked], parts["val"])


@pytest.mark.parametrize("shape", [(30, 20), (30, 20, 3), (200, 130, 3)])
def test_pictures_survive_becoming_text(rng, shape):
    cv2 = pytest.importorskip("cv2")
    pixels = rng.integers(0, 256, shape, dtype=np.uint8)
    uri = data_uri(pixels)
    head, text = uri.split(",")
    assert head == "data:image/png;base64"
    flag = cv2.IMREAD_GRAYSCALE if len(shape) == 2 else cv2.IMREAD_COLOR
    decoded = cv2.imdecode(np.frombuffer(base64.b64decode(text), np.uint8), flag)
    decoded = decoded if len(shape) == 2 else decoded[..., ::-1]
    if max(shape) <= 48:
        assert_array_equal(decoded, pixels)
    else:
        assert decoded.shape == (40, 26, 3)
        assert_array_equal(decoded[1, 2], pixels[5:10, 10:15].mean(axis=(0, 1)).round())


def test_pictures_that_cannot_be_read_are_none(tmp_path):
    assert data_uri(tmp_path / "missing.png") is None


def test_nonzeros_of_either_kind_of_codes(rng):
    codes = np.where(rng.random((6, 9)) < 0.4, 1.5, 0.0)
    assert mean_nonzeros(codes) == mean_nonzeros(sparse.csr_array(codes)) == (codes != 0).sum() / 6
    assert mean_nonzeros(None) is None


def test_memory_and_time_are_of_the_block_alone():
    with measured() as large:
        block = np.ones(40_000_000)
    del block
    with measured() as small:
        pass
    assert large.peak_memory_mb > 300
    assert 0 < large.seconds < 60
    assert small.peak_memory_mb < large.peak_memory_mb - 250 or small.peak_memory_mb is None


def test_progress_tells_how_long_it_will_take(capsys):
    lines = Lines(4)
    lines.start -= 30.0
    lines.done({"key": "t/kSC/None/0", "value": 93.456})
    text = capsys.readouterr().err
    assert "[1/4] t/kSC/None/0: 93.5 after 30 s, about 2 min left" in text
    assert [duration(s) for s in (3.2, 89, 300, 7500)] == ["3 s", "89 s", "5 min", "2 h 5 min"]
    with watched(1, show=False) as silent:
        silent.begin()
        silent.done({"key": "k", "value": 1.0})
        silent.say("nothing")
    with watched(1, show=True) as shown:  # no terminal here
        assert isinstance(shown, Lines)
    assert capsys.readouterr().err == ""


def test_the_bar_counts_results(capsys):
    pytest.importorskip("rich")
    bar = progress._rich_bar()
    with bar:
        shown = Bar(bar, bar.add_task("reading data", total=2))
        shown.say("[1] of two")  # no markup
        shown.begin()
        shown.done({"key": "t/kSC/None/0", "value": 93.456})
    (task,) = bar.tasks
    assert task.completed == 1
    assert task.description == "t/kSC/None/0: 93.5"
    assert "[1] of two" in capsys.readouterr().err
