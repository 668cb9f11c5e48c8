"""Images to vectors, one image at a time, against extractor and aggregator one after the other."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from helpers.names import stable
from kernelcoding import KernelLLC, KernelSparseCoder
from kernelcoding.aggregation import (
    VLAD,
    FisherVector,
    ImageAggregator,
    KernelFisherVector,
    KernelVLAD,
    Pooling,
    SpatialPyramid,
)
from kernelcoding.images import DenseRootSIFT
from kernelcoding.kernels import Gaussian
from reference.channels import texture

EXTRACTOR = DenseRootSIFT(step=6, scales=(8, 12))
AGGREGATORS = [
    FisherVector(3, n_pca=4, random_state=0),
    VLAD(4, random_state=0),
    KernelVLAD(Gaussian(1.0), n_words=3, n_landmarks=20, random_state=0),
    KernelFisherVector(Gaussian(1.0), n_components=2, n_landmarks=20, random_state=0),
    Pooling(KernelSparseCoder("linear", atoms=10, random_state=0), random_state=0),
    SpatialPyramid(KernelLLC("linear", atoms=10, n_neighbors=3, random_state=0), random_state=0),
]


@pytest.fixture
def images(rng):
    return [texture(rng, *size) for size in ((30, 40), (36, 36), (24, 50), (40, 30))]


@pytest.mark.parametrize("aggregator", AGGREGATORS, ids=stable)
def test_without_a_draw_it_is_the_pipeline(images, aggregator):
    expected = make_pipeline(EXTRACTOR, clone(aggregator)).fit(images).transform(images)
    alone = ImageAggregator(EXTRACTOR, aggregator, n_samples=None).fit(images)
    vectors = alone.transform(images)
    assert vectors.dtype == expected.dtype
    assert_allclose(vectors, expected, rtol=1e-4, atol=1e-5)
    assert_array_equal(alone.get_feature_names_out(), alone.aggregator_.get_feature_names_out())
    threads = clone(alone).set_params(extractor__n_jobs=2).fit(images).transform(images)
    assert_allclose(threads, vectors, rtol=1e-4, atol=1e-5)


def test_every_image_gives_its_share_of_the_draw(images):
    class Witness(FisherVector):
        def fit(self, X, y=None):
            self.seen_ = X
            return super().fit(X)

    witness = Witness(2, n_pca=3, random_state=0)
    found = ImageAggregator(EXTRACTOR, witness, n_samples=41, random_state=3).fit(images)
    records = EXTRACTOR.transform(images)
    for part, record in zip(found.aggregator_.seen_, records, strict=True):
        assert len(part.descriptors) == 11  # a quarter, rounded up
        rows = [np.flatnonzero((record.descriptors == d).all(axis=1)) for d in part.descriptors]
        first = np.array([row[0] for row in rows])
        assert len(np.unique(first)) == 11  # without replacement
        assert_array_equal(record.positions[first], part.positions)
        assert part.shape == record.shape
    again = clone(found).fit(images)
    assert_array_equal(again.transform(images), found.transform(images))
    other = clone(found).set_params(random_state=4).fit(images)
    assert not np.array_equal(other.transform(images), found.transform(images))


def test_images_without_descriptors_have_zeros_and_are_named(images):
    found = ImageAggregator(EXTRACTOR, AGGREGATORS[0], random_state=0).fit(images)
    flat = np.full((30, 30), 0.5)
    with pytest.warns(UserWarning, match=r"2 of 3 images have no descriptors.*rows \[0, 2\]"):
        vectors = found.transform([flat, images[0], flat])
    assert_array_equal(vectors[[0, 2]], 0.0)
    assert_array_equal(vectors[1], found.transform(images[:1])[0])
    with pytest.warns(UserWarning, match="1 of 1"):
        assert found.transform([flat]).shape == (1, 24)


def test_images_that_cannot_be_read_are_skipped_when_asked(images):
    found = ImageAggregator(DenseRootSIFT(step=6, on_error="skip"), AGGREGATORS[0])
    with pytest.warns(UserWarning, match="Skipped 1 of 5"):
        found.fit(["nowhere.png", *images])
    assert found.skipped_ == [0]
    with pytest.warns(UserWarning, match="Skipped 1 of 3"):
        assert len(found.transform([images[0], "nowhere.png", images[1]])) == 2
    assert found.skipped_ == [1]
    with pytest.raises(ValueError, match=r"Image 1 \(nowhere.png\)"):
        ImageAggregator(EXTRACTOR, AGGREGATORS[0]).fit([images[0], "nowhere.png"])


def test_it_lives_in_pipelines(images, rng):
    more = images + [np.rot90(image) for image in images]
    y = np.repeat(["upright", "turned"], 4)
    vectors = ImageAggregator(EXTRACTOR, AGGREGATORS[0], random_state=0)
    search = GridSearchCV(
        make_pipeline(vectors, LinearSVC()),
        {"imageaggregator__aggregator__n_components": [1, 2]},
        cv=2,
    )
    assert set(search.fit(more, y).predict(images)) <= {"upright", "turned"}
    frame = clone(vectors).set_output(transform="pandas").fit(images).transform(images)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns[:2]) == ["fishervector0", "fishervector1"]


def test_what_is_no_extractor_is_refused(images):
    with pytest.raises(ValueError, match=r"extractor must have map"):
        ImageAggregator(None, AGGREGATORS[0]).fit(images)
    for count in (0, 2.5):
        with pytest.raises(ValueError, match="n_samples"):
            ImageAggregator(EXTRACTOR, AGGREGATORS[0], n_samples=count).fit(images)
