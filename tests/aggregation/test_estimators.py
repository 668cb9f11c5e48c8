"""The scikit-learn contract of aggregators: clones, names, containers, searches, pipelines."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits, load_sample_images
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import get_tags

from kernelcoding import KernelDictionaryLearning, KernelLLC, KernelSparseCoder
from kernelcoding.aggregation import (
    VLAD,
    DescriptorSet,
    FisherVector,
    KernelFisherVector,
    KernelVLAD,
    Pooling,
    SpatialPyramid,
)

AGGREGATORS = {
    "pooling": Pooling(KernelLLC(atoms=8, random_state=0), n_samples=100, random_state=0),
    "pyramid": SpatialPyramid(KernelLLC("linear", atoms=8, random_state=0), levels=(1, 2)),
    "VLAD": VLAD(n_words=4, n_samples=200, random_state=0),
    "Fisher": FisherVector(n_components=3, n_samples=200, random_state=0),
    "kernel VLAD": KernelVLAD(n_words=4, n_landmarks=20, n_samples=200, random_state=0),
    "kernel Fisher": KernelFisherVector(
        n_components=3, n_axes=5, n_landmarks=20, n_samples=200, random_state=0
    ),
    "spherical": KernelFisherVector(
        n_components=3, covariance="spherical", n_landmarks=20, n_samples=200, random_state=0
    ),
}
EVERY = pytest.mark.parametrize("aggregator", AGGREGATORS.values(), ids=AGGREGATORS.keys())


def patches(image):
    """All 3 x 3 patches of an image of digits, with their positions."""
    views = np.lib.stride_tricks.sliding_window_view(image / 16.0, (3, 3))
    positions = np.indices(views.shape[:2]).reshape(2, -1).T + 1
    return DescriptorSet(views.reshape(-1, 9), positions, image.shape)


@pytest.fixture(scope="module")
def digits():
    data = load_digits(n_class=3)
    return [patches(image) for image in data.images[:90]], data.target[:90]


@EVERY
def test_results_repeat_and_do_not_depend_on_blocks_or_order(aggregator, digits):
    X, y = digits
    vectors = clone(aggregator).fit_transform(X, y)
    again = clone(aggregator).fit(X).transform(X)
    assert_array_equal(again, vectors)
    fitted = pickle.loads(pickle.dumps(clone(aggregator).fit(X)))
    assert_allclose(fitted.transform(X[::-1])[::-1], vectors, rtol=0, atol=1e-9)
    assert_allclose(np.linalg.norm(vectors, axis=1), 1.0)


@EVERY
def test_names_containers_and_tags(aggregator, digits):
    X, _ = digits
    aggregator = clone(aggregator)
    with pytest.raises(NotFittedError):
        aggregator.transform(X)
    vectors = aggregator.fit_transform(X)
    names = aggregator.get_feature_names_out()
    assert len(names) == len(set(names)) == vectors.shape[1]
    assert names[0] == f"{type(aggregator).__name__.lower()}0"
    frame = aggregator.set_output(transform="pandas").transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(names)
    assert_array_equal(frame.to_numpy(), vectors)
    with config_context(transform_output="pandas"):  # reaches the coder inside, too
        assert_array_equal(clone(aggregator).fit_transform(X).to_numpy(), vectors)
    assert not get_tags(aggregator).input_tags.two_d_array
    assert aggregator.n_features_in_ == 9


@EVERY
def test_parameters_are_kept_as_given(aggregator, digits):
    before = repr(aggregator.get_params())
    clone(aggregator).fit(digits[0])
    assert repr(aggregator.get_params()) == before
    assert repr(clone(aggregator).get_params()) == before


@EVERY
def test_digits_from_their_patches(aggregator, digits):
    X, y = digits
    model = make_pipeline(clone(aggregator), LinearSVC())
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8


@pytest.mark.parametrize(
    ("aggregator", "grid"),
    [
        (KernelVLAD(n_landmarks=20, random_state=0),
         {"kernelvlad__kernel__gamma": [0.1, 1.0], "kernelvlad__n_words": [2, 4]}),
        (KernelFisherVector(n_landmarks=20, n_axes=4, random_state=0),
         {"kernelfishervector__kernel__gamma": [0.1, 1.0],
          "kernelfishervector__n_components": [2]}),
        (VLAD(random_state=0), {"vlad__n_words": [2, 4], "vlad__power": [0.5, 1.0]}),
        (SpatialPyramid(KernelLLC("rbf", atoms=8, random_state=0)),
         {"spatialpyramid__coder__kernel__gamma": [0.1, 1.0], "spatialpyramid__levels": [(1, 2)]}),
    ],
    ids=lambda part: type(part).__name__,
)  # fmt: skip
def test_grid_search(aggregator, grid, digits):
    X, y = digits
    search = GridSearchCV(make_pipeline(aggregator, LinearSVC()), grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.8
    name = next(iter(grid))
    assert search.best_params_[name] in grid[name]
    inside = search.best_estimator_[0]
    kernel = getattr(inside, "kernel_", None) or getattr(
        getattr(inside, "coder_", None), "kernel_", None
    )
    if "gamma" in name:
        assert kernel.gamma == search.best_params_[name]


@pytest.mark.parametrize("name", ["kernel VLAD", "spherical"])
def test_exact_gram_in_a_support_vector_machine(name, digits):
    X, y = digits
    aggregator = clone(AGGREGATORS[name]).set_params(power=1.0).fit(X[:60])
    machine = SVC(kernel="precomputed").fit(aggregator.gram(X[:60]), y[:60])
    assert machine.score(aggregator.gram(X[60:], X[:60]), y[60:]) > 0.8


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Crops of two photographs as files, and which photograph each is from."""
    image_module = pytest.importorskip("PIL.Image")
    pytest.importorskip("cv2")
    folder = tmp_path_factory.mktemp("photographs")
    paths, labels = [], []
    for label, photograph in enumerate(load_sample_images().images):
        for number, (row, column) in enumerate(np.ndindex(3, 4)):
            crop = photograph[140 * row : 140 * row + 100, 150 * column : 150 * column + 120]
            path = folder / f"{label}-{number}.png"
            image_module.fromarray(crop).save(path)
            paths.append(str(path))
            labels.append(label)
    return paths, np.array(labels)


@pytest.mark.parametrize(
    "aggregator",
    [
        SpatialPyramid(KernelLLC(kernel="linear", atoms=32, random_state=0), n_samples=2000),
        SpatialPyramid(
            KernelDictionaryLearning(
                KernelSparseCoder("linear", alpha=0.15), n_atoms=32, n_landmarks=100, max_iter=3
            ),
            how="absolute_max",
            n_samples=1000,
            random_state=0,
        ),
        VLAD(n_words=4, random_state=0),
        KernelFisherVector(n_components=2, n_axes=8, n_landmarks=32, random_state=0),
    ],
    ids=["LLC", "ScSPM", "VLAD", "kernel Fisher"],
)
def test_from_image_files_to_labels(aggregator, files):
    images = pytest.importorskip("kernelcoding.images")
    paths, y = files
    sift = images.DenseRootSIFT(step=8, scales=(16,), contrast_threshold=0)  # there is sky
    model = make_pipeline(sift, aggregator, LinearSVC())
    model.fit(paths[::2], y[::2])
    assert model.score(paths[1::2], y[1::2]) >= 0.75
