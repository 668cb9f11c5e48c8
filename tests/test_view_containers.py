"""Samples of several views: how they are indexed, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.utils import _safe_indexing

import kernelcoding as kc
from helpers.several_views import kernel_of_views, part, several_views
from kernelcoding import Views
from kernelcoding.kernels import Linear, MultipleKernel, Normalized, View

TRAIN = np.arange(0, 60, 2)


@pytest.fixture
def views():
    return several_views()


def test_indexing(views):
    X = Views(views, precomputed=["gram"])
    assert len(X) == 60
    assert X.shape == (60, 60)
    assert Views(several_views(gram=False)).shape == (60, 3)
    mask = np.arange(60) % 2 == 0
    for rows in (slice(0, 9, 2), [4, 1], np.array([4, 1]), mask):
        for name, stack in X[rows].stacks.items():
            assert_array_equal(stack, views[name][rows])
            assert_array_equal(_safe_indexing(X, rows).stacks[name], views[name][rows])
    square = X[np.ix_([3, 1], [5, 7, 9])]
    assert_array_equal(square["gram"], views["gram"][np.ix_([3, 1], [5, 7, 9])])
    assert_array_equal(square["words"], views["words"][[3, 1]])
    assert_array_equal(X[3]["words"], views["words"][3])
    assert "words" in repr(X)
    with pytest.raises(IndexError, match=r"X\[np\.ix_\(rows, columns\)\]"):
        X[1, 2]


def refusals(views):
    cells = [np.ones(2), np.ones(3)]
    no_words = {name: stack for name, stack in views.items() if name != "words"}
    yield no_words, r"The view 'words' is missing: the samples have the views \['covariance'"
    yield tuple(views.values()), "The view 'covariance' is missing: .* \\[0, 1, 2, 3\\]"
    yield views | {"words": views["words"][:5]}, "same number of samples, got .*'words': 5"
    yield views | {"covariance": views["words"]}, r"The view 'covariance': .* \(n, p, p\)"
    yield views | {"words": -views["words"]}, "The view 'words': Negative values"
    yield views | {"words": cells * 30}, "The view 'words' holds arrays of different shapes"
    yield views | {"words": 1.0}, "The view 'words' must hold one value or array per sample"
    yield views | {"words": ["a"] * 60}, "The view 'words': ChiSquared expected an array of real"
    yield views | {"words": views["words"] * np.nan}, "The view 'words': .* finite values"
    yield views | {"words": csr_array(-views["words"])}, "The view 'words': Negative values"
    yield part(views, TRAIN, slice(None)), r"The view 'gram': .*X\[np\.ix_\(train, train\)\]"


@pytest.mark.parametrize("number", range(11))
def test_bad_training_samples_name_the_view(number, views):
    samples, message = list(refusals(views))[number]
    with pytest.raises(ValueError, match=message):
        kc.KernelSparseCoder(kernel_of_views()).fit(samples)


def test_bad_queries_name_the_view(views):
    coder = kc.KernelSparseCoder(kernel_of_views()).fit(views)
    with pytest.raises(ValueError, match=r"The view 'words': .* got \(3,\) and \(5,\) per sample"):
        coder.transform(views | {"words": views["words"][:, :3]})
    with pytest.raises(ValueError, match=r"The view 'gram': .* one column per training sample"):
        coder.transform(views | {"gram": views["gram"][:, :3]})


def test_kernels_that_do_not_fit_the_samples(views):
    with pytest.raises(ValueError, match=r"X holds several views, \['covariance'.* one array"):
        kc.KernelSparseCoder("rbf").fit(views)
    mixed = View("words", Linear()) + Linear()
    with pytest.raises(ValueError, match=r"are no single array: choose one by View\(name"):
        kc.KernelSparseCoder(mixed).fit(views)
    both = MultipleKernel([View("words", Linear()), View([0, 1], Linear())])
    with pytest.raises(ValueError, match=r"chooses columns of an array, but .* give the name"):
        kc.KernelSparseCoder(both).fit(views)
    side = View(["words", "covariance"], Linear())
    with pytest.raises(ValueError, match=r"The view 'covariance' .* use a View of its own"):
        kc.KernelSparseCoder(side).fit(views)
    with pytest.raises(ValueError, match="expected a dict, a tuple or a data frame"):
        Views(np.ones((3, 2)))
    with pytest.raises(ValueError, match="at least one view"):
        Views({})
    with pytest.raises(ValueError, match="The view 'matrix' is missing"):
        Views(views, precomputed=["matrix"])


def test_views_can_be_wrapped(views):
    kernel = Normalized(View("words", Linear())) * View("subspace", "projection")
    words, bases = views["words"], views["subspace"]
    norms = np.linalg.norm(words, axis=1)
    truth = words @ words.T / np.outer(norms, norms)
    truth *= np.square(np.einsum("npq,mpr->nmqr", bases, bases)).sum(axis=(2, 3))
    assert_allclose(kernel(views), truth, rtol=1e-10)
    assert kernel.views == ("words", "subspace")
