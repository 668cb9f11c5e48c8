"""Ragged input: what is accepted, in which blocks it is visited, what is refused."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kernelcoding import KernelLLC
from kernelcoding.aggregation import (
    VLAD,
    DescriptorSet,
    FisherVector,
    KernelFisherVector,
    KernelVLAD,
    Pooling,
    SpatialPyramid,
)
from kernelcoding.aggregation.sets import check_sets

AGGREGATORS = {
    "pooling": Pooling(KernelLLC("linear", atoms=6, random_state=0)),
    "pooling, no coder": Pooling(),
    "VLAD": VLAD(n_words=3, random_state=0),
    "Fisher": FisherVector(n_components=2, random_state=0),
    "kernel VLAD": KernelVLAD(n_words=3, n_landmarks=10, random_state=0),
    "kernel Fisher": KernelFisherVector(n_components=2, n_landmarks=10, random_state=0),
    "spherical": KernelFisherVector(
        n_components=2, covariance="spherical", n_landmarks=10, random_state=0
    ),
}
EVERY = pytest.mark.parametrize("aggregator", AGGREGATORS.values(), ids=AGGREGATORS.keys())


@pytest.fixture
def sets(rng):
    return [rng.normal(size=(n, 4)) for n in (12, 1, 30, 7)]


@pytest.mark.parametrize("n_rows", [1, 5, 13, 1000])
def test_blocks_hold_every_descriptor_once_in_order(sets, n_rows):
    sets.insert(2, np.empty((0, 4)))
    blocks = list(check_sets(sets).blocks(n_rows))
    assert max(len(block.descriptors) for block in blocks) <= n_rows
    assert_array_equal(np.concatenate([b.descriptors for b in blocks]), np.concatenate(sets))
    owners = np.concatenate([block.owners for block in blocks])
    assert_array_equal(owners, np.repeat([0, 1, 3, 4], [12, 1, 30, 7]))


def test_sample_is_drawn_without_replacement_from_all_sets(sets):
    checked = check_sets(sets)
    everyone = np.concatenate(sets)
    sample = checked.sample(40, np.random.RandomState(0))
    rows = [int(np.flatnonzero((everyone == one).all(axis=1))[0]) for one in sample]
    assert len(set(rows)) == 40
    assert {np.searchsorted(checked.offsets, row, "right") for row in rows} == {1, 2, 3, 4}
    assert_array_equal(checked.sample(None, np.random.RandomState(0)), everyone)
    counts = np.zeros(50)
    for seed in range(400):
        drawn = checked.sample(10, np.random.RandomState(seed))
        counts += (everyone[:, None] == drawn).all(axis=2).any(axis=1)
    assert abs(counts / 400 - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / 400)


@EVERY
def test_arrays_records_and_stacks_are_the_same(aggregator, rng):
    stack = rng.normal(size=(5, 20, 4))
    expected = aggregator.fit(stack).transform(stack)
    assert_array_equal(aggregator.fit(list(stack)).transform(tuple(stack)), expected)
    records = [SimpleNamespace(descriptors=one.tolist()) for one in stack]
    assert_array_equal(aggregator.fit(records).transform(records), expected)
    boxed = np.empty(5, dtype=object)
    boxed[:] = [one for one in stack]
    assert_array_equal(aggregator.transform(boxed), expected)


@EVERY
def test_empty_sets_are_zero_vectors_with_a_warning(aggregator, sets):
    expected = aggregator.fit(sets).transform(sets)
    with_empty = [sets[0], np.empty((0, 4)), *sets[1:], []]
    aggregator.fit(with_empty)  # passed over in silence
    with pytest.warns(
        UserWarning, match=r"2 of 6 descriptor sets are empty \(index 1, 5\)"
    ) as told:
        vectors = aggregator.transform(with_empty)
    assert told[0].filename == __file__
    assert_array_equal(vectors[[1, 5]], 0.0)
    assert_array_equal(vectors[[0, 2, 3, 4]], expected)
    with pytest.warns(UserWarning, match="1 of 1 descriptor sets are empty"):
        assert_array_equal(aggregator.transform([[]]), np.zeros((1, expected.shape[1])))
    with pytest.raises(ValueError, match="All 2 descriptor sets are empty"):
        aggregator.fit([[], np.empty((0, 4))])


@EVERY
def test_a_set_does_not_depend_on_the_others(aggregator, sets):
    vectors = aggregator.fit(sets).transform(sets)
    for one, expected in zip(sets, vectors, strict=True):
        np.testing.assert_allclose(aggregator.transform([one])[0], expected, rtol=0, atol=1e-9)


@EVERY
def test_bad_sets_are_refused_by_number(aggregator, sets):
    bad = [one.copy() for one in sets]
    bad[2][3, 1] = np.nan
    for method in (aggregator.fit, aggregator.fit(sets).transform):
        with pytest.raises(ValueError, match="set 2 expected finite values, got NaN"):
            method(bad)
        with pytest.raises(ValueError, match=r"set 1 has descriptors of shape \(3,\), expected"):
            method([sets[0], sets[1][:, :3]])
        with pytest.raises(ValueError, match="expected at least one descriptor set"):
            method([])
        with pytest.raises(ValueError, match="set 1 expected an array of real numbers"):
            method([sets[0], [["a", "b"]]])
    with pytest.raises(ValueError, match=r"expected \(4,\) as at fit"):
        aggregator.transform([np.ones((2, 3))])


def test_a_single_set_is_refused_with_advice(sets):
    with pytest.raises(ValueError, match="A single set must be wrapped in a list"):
        VLAD(n_words=2).fit(sets[0])
    with pytest.raises(ValueError, match="for a single set pass a list"):
        VLAD(n_words=2).fit(DescriptorSet(sets[0]))
    with pytest.raises(ValueError, match="expected a list of descriptor sets, got int"):
        VLAD(n_words=2).fit(3)


@pytest.mark.parametrize(
    ("aggregator", "message"),
    [
        (VLAD(n_words=60), "n_words=60 needs at least 60 descriptors, got 50"),
        (FisherVector(n_components=60), "n_components=60 needs at least 60 descriptors, got 50"),
        (KernelVLAD(n_words=60), "n_words=60 needs at least 60 descriptors, got 50"),
        (KernelFisherVector(n_components=60), "n_components=60 needs at least 60"),
        (VLAD(n_words=0), "n_words must be an integer of at least 1, got 0"),
        (VLAD(n_words=2, power=0), "power must be a positive number, got 0"),
        (VLAD(n_words=2, power=2), "power must be at most 1"),
        (VLAD(n_words=2, norm="l3"), "norm must be one of .* got 'l3'"),
        (VLAD(n_words=2, n_pca=5), "n_pca=5 must be at most 4: there are 50 descriptors of 4"),
        (VLAD(n_words=2, n_samples=0), "n_samples must be an integer of at least 1, got 0"),
        (FisherVector(gradients=("mean",)), "gradients must be a tuple of names among"),
        (FisherVector(gradients="means"), "gradients must be a tuple of names among"),
        (FisherVector(gradients=()), "gradients must be a tuple of names among"),
        (FisherVector(reg_covar=-1), "reg_covar must be a positive number, got -1"),
        (Pooling(how="median"), "how must be one of .* got 'median'"),
        (Pooling(coder="llc"), "coder must be None or a transformer"),
        (SpatialPyramid(levels=()), "levels must hold at least one number"),
        (SpatialPyramid(levels="124"), "levels must hold at least one number"),
        (SpatialPyramid(levels=(1, 0)), "each of levels must be an integer of at least 1, got 0"),
        (SpatialPyramid(), "set 0 has no positions, which a pyramid needs"),
        (KernelVLAD(kernel="rfb"), "unknown kernel name 'rfb'"),
        (KernelVLAD(kernel="precomputed"), "a precomputed kernel has no descriptors to aggregate"),
        (KernelVLAD(n_landmarks=0), "n_landmarks must be an integer of at least 1, got 0"),
        (KernelVLAD(landmarks="best"), "landmarks must be one of .* got 'best'"),
        (KernelVLAD(landmarks=np.ones((3, 5))), r"landmarks have shape \(5,\) each"),
        (KernelFisherVector(covariance="full"), "covariance must be one of .* got 'full'"),
        (KernelFisherVector(n_axes=0), "n_axes must be an integer of at least 1, got 0"),
        (
            KernelFisherVector(covariance="spherical", gradients=("variances",)),
            r"gradients must be a tuple of names among \('means',\)",
        ),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_at_fit(aggregator, message, sets):
    with pytest.raises(ValueError, match=message):
        aggregator.fit(sets)


@pytest.mark.parametrize(
    ("positions", "shape", "message"),
    [
        (np.zeros((2, 2)), (9, 9), r"positions of set 0 must have shape \(3, 2\).* got \(2, 2\)"),
        (np.full((3, 2), np.nan), (9, 9), "positions of set 0 expected finite values"),
        (np.zeros((3, 2)), (9, 0), "shape of set 0 must be two positive numbers"),
        (np.zeros((3, 2)), 9, "shape of set 0 must be two positive numbers"),
    ],
)
def test_bad_positions_are_refused(positions, shape, message):
    with pytest.raises(ValueError, match=message):
        SpatialPyramid().fit([DescriptorSet(np.ones((3, 4)), positions, shape)])
