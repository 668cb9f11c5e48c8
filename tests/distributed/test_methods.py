"""Every method of every fitted estimator is lazy for lazy samples, with the bits of local calls."""

import warnings

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from helpers.lazy_models import (
    LENGTHS,
    QUESTIONS,
    assert_same_bits,
    at_equal_blocks,
    estimators,
    fitted,
    lazy,
)

CASES = [
    *((kind, name) for kind in ("array", "frame") for name in estimators()),
    *(("others", name) for name in fitted("others")),
]


@pytest.fixture(autouse=True)
def _few_rows(recwarn):
    # Single rows whose codes are all zero are told of, here as in memory.
    warnings.simplefilter("ignore", UserWarning)


def asked(kind, name):
    """The lazy answers of a model and the truth, question by question."""
    model, Q = fitted(kind)[name]
    X = lazy(Q)
    for question in QUESTIONS:
        if hasattr(model, question):
            method = getattr(model, question)
            yield question, method(X), at_equal_blocks(method, Q)


def check(found, computed, expected):
    assert isinstance(found, da.Array)
    assert found.chunks[1:] == tuple((size,) for size in expected.shape[1:])
    assert found.numblocks[0] == len(LENGTHS)
    assert found.dtype == expected.dtype
    assert type(found._meta) is type(expected)
    assert_same_bits(computed, expected)


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_threads_give_the_bits_of_local_calls_at_equal_blocks(kind, name):
    answers = list(asked(kind, name))
    assert answers
    with dask.config.set(scheduler="threads"):
        computed = dask.compute(*(found for _, found, _ in answers))
    for (_, found, expected), values in zip(answers, computed, strict=True):
        check(found, values, expected)


@pytest.mark.parametrize("kind", ["array", "frame", "others"])
def test_worker_processes_give_the_bits_of_local_calls_at_equal_blocks(kind, client):
    answers = {}
    for name in fitted(kind):
        for question, found, expected in asked(kind, name):
            answers[name, question] = (found, expected)
    computed = client.gather(client.compute([found for found, _ in answers.values()]))
    for (found, expected), values in zip(answers.values(), computed, strict=True):
        check(found, values, expected)


@pytest.mark.parametrize("kind", ["array", "frame"])
@pytest.mark.parametrize("name", ["sparse", "CSR", "linear kernel", "dictionary", "linear"])
def test_codes_that_are_lazy_are_judged_and_decoded_lazily(kind, name):
    model, Q = fitted(kind)[name]
    X = lazy(Q)
    codes, local = model.transform(X), at_equal_blocks(model.transform, Q)
    for question in (model.certify, model.reconstruction_error):
        assert_same_bits(question(X, codes).compute(), at_equal_blocks(question, Q, local))
    assert_same_bits(
        model.reconstruction_error(X, codes=codes).compute(),
        at_equal_blocks(model.reconstruction_error, Q),
    )
    if name in ("dictionary", "linear"):
        with pytest.raises(ValueError, match="inverse_transform needs atoms that are vectors"):
            model.inverse_transform(codes)
    else:
        points = model.inverse_transform(codes)
        assert points.shape[1] == Q.shape[1]
        assert_same_bits(points.compute(), at_equal_blocks(model.inverse_transform, local))


def test_labels_of_known_codes_are_lazy():
    model, Q = fitted("array")["residual"]
    X = lazy(Q)
    codes = model.coder_.transform(X)
    found = model.predict_from_codes(X, codes)
    assert_same_bits(found.compute(), at_equal_blocks(model.predict, Q))


def test_known_lengths_are_declared_and_unknown_ones_stay_unknown():
    model, Q = fitted("array")["sparse"]
    X = lazy(Q)
    assert model.transform(X).chunks == (LENGTHS, (30,))
    masked = model.transform(X[X[:, 0] > -np.inf])
    assert np.isnan(masked.shape[0])
    assert_same_bits(masked.compute(), at_equal_blocks(model.transform, Q))


def test_delayed_blocks_are_coded_and_empty_ones_pass():
    model, Q = fitted("array")["CSR"]
    blocks = [dask.delayed(Q[:3]), dask.delayed(Q[:0]), dask.delayed(Q[3:])]
    codes = model.transform(blocks)
    assert codes.numblocks == (3, 1)
    assert_same_bits(
        codes.compute(), at_equal_blocks(model.transform, Q, lengths=(3, 0, len(Q) - 3))
    )


def test_sparse_blocks_of_samples_are_mapped():
    model, Q = fitted("array")["landmark map"]
    blocks = lazy(Q).map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 0)))
    np.testing.assert_allclose(model.transform(blocks).compute(), model.transform(Q), rtol=1e-12)


def test_empty_input_has_codes_of_its_kind():
    for name in ("sparse", "CSR"):
        model, Q = fitted("array")[name]
        codes = model.transform(lazy(Q[:0], (0,))).compute()
        assert codes.shape == (0, model.dictionary_.n_atoms)
        assert sparse.issparse(codes) == (name == "CSR")


def test_csr_chunks_are_sliced_and_put_into_other_chunks():
    model, Q = fitted("array")["CSR"]
    codes = model.transform(lazy(Q))
    local = at_equal_blocks(model.transform, Q).toarray()
    np.testing.assert_array_equal(codes[3:8].compute().toarray(), local[3:8])
    np.testing.assert_array_equal(codes.rechunk({0: 4}).compute().toarray(), local)
    sums = codes.map_blocks(lambda part: part.sum(axis=0)[None], dtype=float, chunks=(1, 12))
    np.testing.assert_allclose(sums.compute().sum(axis=0), local.sum(axis=0))


def test_other_blocks_change_last_bits_only():
    model, Q = fitted("array")["sparse"]
    codes = model.transform(lazy(Q)).compute()
    np.testing.assert_allclose(codes, model.transform(Q), rtol=0, atol=1e-12)
