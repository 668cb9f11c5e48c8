import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize


@pytest.fixture
def rng():
    return np.random.default_rng(20140723)


@pytest.fixture(scope="module")
def digits():
    X = normalize(load_digits(return_X_y=True)[0])
    return X[:80], X[80:120]
