"""Large allocations are announced, and running out of memory comes with advice."""

import pickle
import warnings

import numpy as np
import pytest

import kernelcoding as kc
from kernelcoding import memory
from kernelcoding.coders import coding
from kernelcoding.kernels import Gaussian, Kernel, Linear, Sigmoid


@pytest.fixture
def samples(rng):
    return rng.normal(size=(64, 3))


def free(monkeypatch, size):
    monkeypatch.setattr(memory, "available_memory", lambda: size)


def announcements(coder, X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        coder.fit(X)
    return [(str(w.message), w.filename) for w in caught if "free" in str(w.message)]


def test_memory_is_known_here_or_honestly_unknown():
    size = memory.available_memory()
    assert size is None or size > 2**20


@pytest.mark.parametrize(
    ("parameters", "kernel", "bytes_of_the_matrix"),
    [
        ({}, Gaussian(), 64**2 * 8),
        ({}, Gaussian() + Linear(), 2 * 64**2 * 8),
        ({"atoms": 40}, Gaussian(), 40**2 * 8),
        ({"atoms": np.ones((50, 3))}, Gaussian(), 50**2 * 8),
        ({"atoms": 4, "init": "kernel-k-means"}, Gaussian(), 64**2 * 8),
    ],
)
def test_more_than_a_quarter_of_the_free_memory_is_announced(
    parameters, kernel, bytes_of_the_matrix, samples, monkeypatch
):
    coder = kc.KernelSparseCoder(kernel, **parameters)
    free(monkeypatch, 4 * bytes_of_the_matrix)
    [(sentence, filename)] = announcements(coder, samples)
    assert filename == __file__
    assert sentence.startswith("The Gram matrix of ")
    assert ("every sample is an atom" in sentence) == (not parameters)
    assert "GB that are free. Use fewer atoms (atoms=2000" in sentence
    free(monkeypatch, 5 * bytes_of_the_matrix)  # and a mask
    assert not announcements(coder, samples)
    free(monkeypatch, None)
    assert not announcements(coder, samples)


def test_single_precision_and_indefinite_kernels(samples, monkeypatch):
    free(monkeypatch, 4 * 64**2 * 8)
    assert not announcements(kc.KernelSparseCoder(Gaussian()), samples.astype(np.float32))
    free(monkeypatch, 12 * 64**2 * 8)
    assert announcements(kc.KernelSparseCoder(Sigmoid()), samples)


def test_sizes_are_in_gigabytes():
    assert memory.as_gigabytes(3.5 * 2**30) == "3.5 GB"
    assert memory.as_gigabytes(2**50) == "1.05e+06 GB"


def out_of_memory(*arguments, **keywords):
    raise MemoryError("Unable to allocate 8.00 TiB for an array")


def test_running_out_in_fit_comes_with_advice(samples, monkeypatch):
    monkeypatch.setattr(Kernel, "between", out_of_memory)
    sentence = r"Unable to allocate 8\.00 TiB for an array\. Use fewer atoms .*n_landmarks.*float32"
    with pytest.raises(MemoryError, match=sentence) as caught:
        kc.KernelSparseCoder(Gaussian()).fit(samples)
    assert isinstance(caught.value.__cause__, MemoryError)
    with pytest.raises(MemoryError, match=r"Unable to allocate .*Set n_landmarks"):
        kc.KernelDictionaryLearning(kc.KernelSparseCoder(Gaussian()), n_atoms=4).fit(samples)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("sparse_output", [False, True])
def test_running_out_in_transform_comes_with_advice(sparse_output, n_jobs, samples, monkeypatch):
    coder = kc.KernelSparseCoder(Gaussian(), sparse_output=sparse_output, n_jobs=n_jobs)
    coder.fit(samples)
    monkeypatch.setattr(coding, "BLOCK_SIZE", 1)
    monkeypatch.setattr(Kernel, "between", out_of_memory)
    with pytest.raises(MemoryError, match=r"TiB for an array\. Code fewer samples at a time"):
        coder.transform(samples)


def test_codes_that_do_not_fit_come_with_advice(samples, monkeypatch):
    coder = kc.KernelBagOfWords(Gaussian()).fit(samples)
    monkeypatch.setattr(coding.np, "empty", out_of_memory)
    with pytest.raises(MemoryError, match="sparse_output=True"):
        coder.transform(samples)


def test_advice_of_a_command_takes_the_place_of_the_library_s():
    with (
        pytest.raises(MemoryError, match=r"^Out of memory\. Outer advice\.$") as caught,
        memory.memory_advice("Outer advice.", instead=True),
        memory.memory_advice("Inner advice."),
    ):
        raise MemoryError
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_advice_is_given_once():
    with (
        pytest.raises(MemoryError, match=r"^Out of memory\. Inner advice\.$"),
        memory.memory_advice("Outer advice."),
        memory.memory_advice("Inner advice."),
    ):
        raise MemoryError
