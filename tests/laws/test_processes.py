"""Compiled code in other processes, without a cache, and with read-only arguments."""

import multiprocessing
import warnings

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed
from numpy.testing import assert_allclose

import kernelcoding as kc
from kernelcoding._compiled import jit
from kernelcoding.parallel import count_threads

CODERS = [
    kc.KernelSparseCoder(alpha=0.05),
    kc.KernelLLC(n_neighbors=3),
    kc.KernelMatchingPursuit(n_nonzero=3),
    kc.KernelBagOfWords(),
]


@pytest.fixture
def samples(rng):
    return rng.normal(size=(40, 5))


@pytest.mark.parametrize("coder", CODERS, ids=repr)
def test_workers_of_joblib_give_the_same_codes(coder, samples):
    coder.fit(samples[:20])
    expected = coder.transform(samples)
    # max_nbytes=0: everything reaches the workers memory-mapped, hence read-only.
    parallel = Parallel(n_jobs=2, max_nbytes=0)
    halves = parallel(delayed(coder.transform)(samples[i : i + 20]) for i in (0, 20))
    assert_allclose(np.vstack(halves), expected, atol=1e-10)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_forked_workers_after_threads_were_used(samples):
    coder = kc.KernelSparseCoder(alpha=0.05, n_jobs=2).fit(samples[:20])
    expected = coder.transform(samples)
    context = multiprocessing.get_context("fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of any fork
        with context.Pool(2) as pool:
            codes = pool.map(coder.transform, [samples[:20], samples[20:]])
    assert_allclose(np.vstack(codes), expected, atol=1e-10)


def test_compiles_where_nothing_can_be_cached(monkeypatch):
    compile_really = jit.njit

    def refuse_cache(cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compile_really(**options)

    monkeypatch.setattr(jit, "njit", refuse_cache)

    @jit.compiled
    def double(x):
        return 2 * x

    assert double(21) == 42


@pytest.mark.parametrize(
    ("n_jobs", "expected"), [(None, 1), (1, 1), (3, 3), (-1, cpu_count()), (-1000, 1)]
)
def test_number_of_threads(n_jobs, expected):
    assert count_threads(n_jobs) == expected


def test_no_threads_are_refused(samples):
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        kc.KernelSparseCoder(n_jobs=0).fit(samples).transform(samples)
