"""Visual words: codebook, histograms, whitening, and pipelines from files to labels."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kernelcoding import KernelSparseCoder, ResidualClassifier
from kernelcoding.images import DenseRootSIFT, ImageDescriptors, Masked, VisualWords
from kernelcoding.images.codebook import ALGORITHMS, learn_words, nearest_words, staged

DATA_HOME = Path(os.environ.get("KERNELCODING_DATA", Path(__file__).parents[3] / "shared" / "data"))
CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])


@pytest.fixture
def sets(rng):
    """Descriptor sets around three far centres, with known counts."""
    counts = np.array([[5, 0, 1], [0, 4, 4], [2, 9, 0], [3, 3, 3]])
    drawn = [np.repeat(CENTRES, row, axis=0) for row in counts]
    return [values + rng.normal(scale=0.1, size=values.shape) for values in drawn], counts


def in_order(words):
    """Columns of the fitted words that match the known centres."""
    return cdist(CENTRES, words.words_).argmin(axis=1)


TRUTH = {
    "none": lambda counts: counts,
    "l1": lambda counts: counts / counts.sum(axis=1, keepdims=True),
    "l2": lambda counts: counts / np.sqrt((counts**2).sum(axis=1, keepdims=True)),
    "hellinger": lambda counts: np.sqrt(counts / counts.sum(axis=1, keepdims=True)),
}


@pytest.mark.parametrize("normalization", TRUTH)
def test_histograms_of_known_words(sets, normalization):
    values, counts = sets
    words = VisualWords(n_words=3, normalization=normalization, random_state=0)
    histograms = words.fit_transform(values)
    assert_allclose(histograms[:, in_order(words)], TRUTH[normalization](counts))
    assert_array_equal(words.transform(values), histograms)
    assert_array_equal(clone(words).fit(values).transform(values), histograms)


def test_nearest_words_by_brute_force(rng):
    descriptors = rng.normal(size=(500, 16)).astype(np.float32)
    words = rng.normal(size=(37, 16)).astype(np.float32) * np.linspace(0.2, 2, 37)[:, None]
    words = words.astype(np.float32)
    expected = cdist(descriptors, words).argmin(axis=1)
    assert_array_equal(nearest_words(descriptors, words), expected)
    assert_array_equal(nearest_words(descriptors, words, block=37 * 7), expected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_codebook_is_about_as_good_as_the_best_of_many(rng, algorithm):
    sample = rng.normal(size=(3000, 8)).astype(np.float32)
    best = KMeans(20, n_init=5, random_state=0).fit(sample).inertia_
    words = learn_words(sample, 20, algorithm, np.random.RandomState(0))
    assert (cdist(sample, words).min(axis=1) ** 2).sum() < 1.05 * best


@pytest.mark.parametrize(("many", "algorithm"), [(21, "lloyd"), (20, "staged")])
def test_many_words_are_learned_in_stages(rng, many, algorithm):
    sample = rng.normal(size=(500, 4)).astype(np.float32)
    expected = learn_words(sample, 20, algorithm, 0)
    assert_array_equal(learn_words(sample, 20, "auto", 0, many_words=many), expected)


def test_stages_are_lloyd_passes(rng):
    sample = rng.normal(size=(400, 3)).astype(np.float32)
    words = staged(sample, 8, 0, share=1, coarse_passes=200)  # both stages see everything
    nearest = cdist(sample, words).argmin(axis=1)  # a fixed point: words are means of their own
    means = [sample[nearest == word].mean(axis=0) for word in range(8)]
    assert_allclose(words, means, atol=0.02)


def test_sample_takes_a_share_of_every_set():
    sizes = [100, 100, 100, 100, 100, 3]
    sets = [label + np.arange(size)[:, None] / 200 for label, size in enumerate(sizes)]
    # As many words as descriptors in the sample: the words are the sample.
    words = VisualWords(n_words=53, n_samples=60, random_state=0).fit(sets).words_
    assert_array_equal(np.bincount(words[:, 0].astype(int)), [10, 10, 10, 10, 10, 3])


def test_sample_depends_on_the_seed_alone(rng):
    sets = [rng.normal(size=(50, 3)) for _ in range(6)]
    codebooks = [
        VisualWords(n_words=4, n_samples=60, n_jobs=jobs, random_state=seed).fit(sets).words_
        for jobs, seed in ((1, 0), (2, 0), (1, 1))
    ]
    assert_array_equal(codebooks[0], codebooks[1])
    assert not np.array_equal(codebooks[0], codebooks[2])


@pytest.mark.parametrize("svd_solver", ["full", "randomized"])
def test_whitening(rng, svd_solver):
    sets = [rng.normal(size=(40, 3)) for _ in range(30)]
    words = VisualWords(
        n_words=10, normalization="l1", n_components=4, svd_solver=svd_solver, random_state=0
    )
    white = words.fit_transform(sets)
    plain = clone(words).set_params(n_components=None).fit_transform(sets)
    centred = plain - plain.mean(axis=0)
    left = np.linalg.svd(centred, full_matrices=False)[0][:, :4] * np.sqrt(29)
    assert_allclose(np.abs(white), np.abs(left), atol=1e-6)
    assert_allclose(words.transform(sets), white, atol=1e-10)
    assert_array_equal(words.get_feature_names_out(), [f"visualwords{i}" for i in range(4)])


def test_pandas_output(sets):
    pytest.importorskip("pandas")
    words = VisualWords(n_words=3, random_state=0).set_output(transform="pandas")
    assert list(words.fit_transform(sets[0]).columns) == [f"visualwords{i}" for i in range(3)]


def test_images_records_and_arrays_give_the_same(rng):
    images = list(rng.integers(0, 256, (4, 40, 48), dtype=np.uint8))
    extractor = DenseRootSIFT(step=8, scales=[16, 24])
    words = VisualWords(n_words=12, descriptors=extractor, random_state=0)
    expected = words.fit_transform(images)
    records = extractor.transform(images)
    assert_array_equal(words.fit_transform(records), expected)
    arrays = [record.descriptors for record in records]
    assert_array_equal(words.set_params(descriptors=None).fit_transform(arrays), expected)
    # an explicit extractor: floating-point arrays are gray images
    floats = clone(words).set_params(descriptors=extractor).fit_transform([a / 255 for a in images])
    assert_allclose(floats, expected)


def test_masks_reach_the_extractor(rng):
    image = rng.integers(0, 256, (40, 48), dtype=np.uint8)
    nothing = np.zeros(image.shape, np.uint8)
    words = VisualWords(n_words=5, normalization="none", random_state=0).fit([image])
    with pytest.warns(UserWarning, match=r"1 of 2 images have no descriptors.*rows \[1\]"):
        counts = words.transform([image, Masked(image, nothing)])
    assert counts[0].sum() > 0
    assert counts[1].sum() == 0


def test_empty_sets_have_histograms_of_zeros(sets):
    values, _ = sets
    words = VisualWords(n_words=3, random_state=0).fit([*values, np.empty((0, 2))])
    for empty in (np.empty((0, 2)), np.empty((0, 0))):
        with pytest.warns(UserWarning, match=r"1 of 2 images have no descriptors"):
            histograms = words.transform([values[0], empty])
        assert_array_equal(histograms[1], 0)


def test_skipped_images(rng, tmp_path):
    images = list(rng.integers(0, 256, (3, 40, 48), dtype=np.uint8))
    sources = [images[0], tmp_path / "missing.png", *images[1:]]
    words = VisualWords(5, DenseRootSIFT(on_error="skip"), random_state=0)
    with pytest.warns(UserWarning, match=r"(?s)Skipped 1 of 4.*Image 1 \(.*missing.png"):
        histograms = words.fit_transform(sources)
    assert words.skipped_ == [1]
    assert_array_equal(words.transform(images), histograms)


BAD_INPUT = {
    "few": ({"n_words": 100}, None, "n_words=100 needs at least as many training descriptors"),
    "words": ({"n_words": 0}, None, "n_words must be an integer of at least 1, got 0"),
    "samples": ({"n_samples": 1.5}, None, "n_samples must be an integer of at least 1"),
    "normalization": ({"normalization": "l3"}, None, "normalization must be one of"),
    "algorithm": ({"algorithm": "magic"}, None, "algorithm must be one of"),
    "components": ({"n_components": 9}, None, "n_components must be between 1 and 3"),
    "nan": ({}, [np.full((4, 2), np.nan)], "Image 0: descriptors are NaN"),
    "widths": ({}, [np.zeros((4, 2)), np.zeros((4, 3))], r"one width.*got widths \[2, 3\]"),
    "all empty": ({}, [np.empty((0, 2))], "got none"),
    "no images": ({}, [], "got an empty one"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_refused(sets, case):
    parameters, values, message = BAD_INPUT[case]
    words = VisualWords(**{"n_words": 3, **parameters})
    with pytest.raises(ValueError, match=message):
        words.fit(sets[0] if values is None else values)


def test_width_of_queries_is_checked(sets):
    words = VisualWords(n_words=3, random_state=0).fit(sets[0])
    with pytest.raises(ValueError, match="Image 0: expected descriptors of 2 numbers as in fit"):
        words.transform([np.zeros((4, 5))])


def test_record_has_a_length():
    record = ImageDescriptors(np.zeros((3, 4)), np.zeros((3, 2)), np.zeros(3), (5, 5))
    assert len(record) == 3


@pytest.fixture(scope="module")
def scenes():
    """Files of two easy categories, 14 each, and labels."""
    pytest.importorskip("cv2")
    folder = DATA_HOME / "scene15" / "Images"
    if not folder.exists():
        pytest.skip(f"Scene-15 is not in {folder}; set KERNELCODING_DATA")
    categories = sorted(path for path in folder.iterdir() if path.is_dir())
    chosen = [path for path in categories if path.name.lower() in {"forest", "coast"}]
    files = [sorted(path.iterdir())[:14] for path in (chosen or categories[:2])]
    return [str(file) for group in files for file in group], np.repeat(["a", "b"], 14)


def test_pipeline_from_files_to_labels(scenes):
    files, labels = scenes
    extractor = DenseRootSIFT(step=10, scales=[16])
    words = VisualWords(n_words=30, n_samples=3000, random_state=0)
    coder = ResidualClassifier(KernelSparseCoder(alpha=0.01))
    for steps in (
        [extractor, words, coder],
        [clone(words).set_params(descriptors=extractor), SVC()],  # it describes by itself
    ):
        pipeline = make_pipeline(*steps).fit(files[::2], labels[::2])
        assert pipeline.score(files[1::2], labels[1::2]) > 0.9


def test_parameters_are_searched_through_the_pipeline(sets):
    values, _ = sets
    search = GridSearchCV(
        make_pipeline(VisualWords(random_state=0), SVC()),
        {"visualwords__n_words": [2, 3], "visualwords__normalization": ["l1", "hellinger"]},
        cv=2,
    ).fit(values * 3, [0, 1, 0, 1] * 3)
    assert search.best_score_ == 1.0
