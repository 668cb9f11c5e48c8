import gc

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Thousands of tests stay until the end: looking for those to be forgotten costs seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def rng():
    return np.random.default_rng(20140723)


@pytest.fixture(scope="module")
def digits():
    X = normalize(load_digits(return_X_y=True)[0])
    return X[:80], X[80:120]
