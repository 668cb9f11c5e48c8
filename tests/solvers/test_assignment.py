"""Soft weights and the memory they are written to."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.metrics.pairwise import rbf_kernel

import kernelcoding as kc
from kernelcoding.kernels import Gaussian
from kernelcoding.solvers.result import Options


def test_soft_weights_are_written_where_they_stay(rng):
    X, Q = rng.normal(size=(30, 3)), rng.normal(size=(8, 3))
    coder = kc.KernelBagOfWords(Gaussian(gamma=0.2), sigma=2.0).fit(X)
    problem, formulation = coder.dictionary_.problem(Q), coder.formulation()
    expected = softmax(4.0 * rbf_kernel(Q, X, 0.2), axis=1)
    room = np.full_like(expected, np.nan)
    assert formulation.solve(problem, Options(room=room)).codes is room
    assert_allclose(room, expected, rtol=1e-12)
    single = np.zeros(room.shape, np.float32)  # of another precision: left alone
    assert_array_equal(formulation.solve(problem, Options(room=single)).codes, room)
    assert not single.any()
    assert_array_equal(coder.transform(Q), room)
    assert_array_equal(coder.set_params(sparse_output=True).transform(Q).toarray(), room)
