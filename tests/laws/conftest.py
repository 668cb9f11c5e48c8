"""What laws are tried on."""

import pytest
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize


@pytest.fixture(scope="session")
def digits():
    X, y = load_digits(return_X_y=True)
    X = normalize(X)
    return X[:60], y[:60], X[60:100], y[60:100]
