"""Pooling and pyramids against loops over descriptors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import normalize

from kernelcoding import (
    KernelBagOfWords,
    KernelDictionaryLearning,
    KernelLLC,
    KernelMatchingPursuit,
    KernelSparseCoder,
)
from kernelcoding.aggregation import DescriptorSet, Pooling, SpatialPyramid, base

TRUTHS = {
    "max": lambda codes: codes.max(axis=0),
    "absolute_max": lambda codes: np.abs(codes).max(axis=0),
    "sum": lambda codes: codes.sum(axis=0),
    "average": lambda codes: codes.mean(axis=0),
}
CODERS = {
    "none": None,
    "LLC": KernelLLC("linear", atoms=9, n_neighbors=3, random_state=0),
    "hard": KernelBagOfWords(atoms=9, assignment="hard", random_state=0),
    "soft": KernelBagOfWords(atoms=9, random_state=0),
    "sparse": KernelSparseCoder(atoms=9, alpha=0.05, random_state=0),
    "pursuit": KernelMatchingPursuit(atoms=9, n_nonzero=2, random_state=0),
    "learned": KernelDictionaryLearning(KernelLLC("linear", n_neighbors=3), n_atoms=9, max_iter=2),
    "k-means distances": KMeans(9, n_init=1, random_state=0),
}


@pytest.fixture
def records(rng):
    shapes = [(40, 60), (100, 30), (7, 7)]
    sizes = [150, 90, 3]
    return [
        DescriptorSet(rng.normal(size=(n, 5)), rng.uniform(0, 1, (n, 2)) * shape, shape)
        for n, shape in zip(sizes, shapes, strict=True)
    ]


def codes_of(aggregator, descriptors):
    """What a coder of the same settings says, dense."""
    if aggregator.coder_ is None:
        return descriptors
    codes = aggregator.coder_.transform(descriptors)
    return codes.toarray() if sparse.issparse(codes) else codes


@pytest.mark.parametrize("how", TRUTHS)
@pytest.mark.parametrize("coder", CODERS.values(), ids=CODERS.keys())
def test_pooling_is_the_function_of_all_codes(coder, how, records, monkeypatch):
    monkeypatch.setattr(base, "BLOCK_SIZE", 1)  # blocks of 64 descriptors cut through the sets
    pooling = Pooling(coder, how=how, norm=None)
    pooled = pooling.fit_transform(records)
    codes = [codes_of(pooling, record.descriptors) for record in records]
    expected = np.array([TRUTHS[how](one) for one in codes])
    assert_allclose(pooled, expected, rtol=0, atol=1e-12)
    for norm in ("l1", "l2", "max"):
        pooling.set_params(norm=norm)
        assert_allclose(pooling.transform(records), normalize(expected, norm), atol=1e-12)


@pytest.mark.parametrize("how", TRUTHS)
@pytest.mark.parametrize("levels", [(1, 2, 4), (3,), (1, 3)])
def test_pyramid_pools_each_cell_alone(levels, how, records, monkeypatch):
    monkeypatch.setattr(base, "BLOCK_SIZE", 1)
    coder = CODERS["LLC"]
    pyramid = SpatialPyramid(coder, levels, how, norm=None)
    pooled = pyramid.fit_transform(records)
    for record, vector in zip(records, pooled, strict=True):
        codes = codes_of(pyramid, record.descriptors)
        height, width = record.shape
        expected = []
        for level in levels:
            for i in range(level):
                for j in range(level):
                    mine = [
                        code
                        for code, (row, column) in zip(codes, record.positions, strict=True)
                        if i <= (row + 0.5) * level / height < i + 1 + (i == level - 1)
                        and j <= (column + 0.5) * level / width < j + 1 + (j == level - 1)
                    ]
                    expected.append(TRUTHS[how](np.array(mine)) if mine else np.zeros(9))
        assert_allclose(vector, np.concatenate(expected), rtol=0, atol=1e-12)


def test_first_level_is_pooling_and_unit_norms(records):
    pyramid = SpatialPyramid(CODERS["LLC"], levels=(1,), random_state=0)
    pooling = Pooling(CODERS["LLC"], random_state=0)
    assert_allclose(pyramid.fit_transform(records), pooling.fit_transform(records), atol=1e-15)
    assert_allclose(np.linalg.norm(pyramid.transform(records), axis=1), 1.0)


def test_without_a_shape_the_box_of_the_positions_is_divided(rng):
    positions = rng.uniform(10, 20, (40, 2))
    descriptors = rng.normal(size=(40, 3))
    low, high = positions.min(axis=0), positions.max(axis=0)
    half = (positions >= (low + high) / 2).astype(int)
    pooled = SpatialPyramid(levels=(2,), how="sum", norm=None).fit_transform(
        [DescriptorSet(descriptors, positions)]
    )
    expected = [
        descriptors[(half == (i, j)).all(axis=1)].sum(axis=0) for i in (0, 1) for j in (0, 1)
    ]
    assert_allclose(pooled[0], np.concatenate(expected), atol=1e-12)


@pytest.mark.parametrize("name", ["LLC", "hard", "pursuit", "learned"])
def test_codes_of_few_numbers_stay_sparse_inside(name, records):
    pooling = Pooling(CODERS[name]).fit(records)
    assert sparse.issparse(pooling.coder_.transform(records[0].descriptors))


def test_the_users_coder_is_left_alone(records):
    coder = clone(CODERS["LLC"])
    Pooling(coder).fit(records)
    assert not hasattr(coder, "dictionary_")
    assert coder.sparse_output is False
    frozen = clone(CODERS["learned"]).fit(records[0].descriptors)
    pooling = Pooling(FrozenEstimator(frozen), how="sum", norm=None).fit(records)
    assert frozen.coder_.sparse_output is False
    expected = frozen.transform(records[1].descriptors).sum(axis=0)
    assert_allclose(pooling.transform(records)[1], expected, atol=1e-12)


def test_coder_is_fitted_to_the_sample_asked_for(records):
    pooling = Pooling(KernelLLC("linear", n_neighbors=2), n_samples=17, random_state=0)
    assert pooling.fit(records).coder_.dictionary_.n_atoms == 17
    assert pooling.transform(records).shape == (3, 17)


def test_precision_of_the_descriptors_is_kept(records):
    small = [DescriptorSet(r.descriptors.astype(np.float32), r.positions, r.shape) for r in records]
    pyramid = SpatialPyramid(CODERS["LLC"])
    assert pyramid.fit_transform(small).dtype == np.float32
    assert pyramid.fit_transform(records).dtype == np.float64
