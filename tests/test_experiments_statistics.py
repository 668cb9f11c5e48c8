"""Descriptors that experiments keep, and rows with several kernels, against the library's own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC

from kernelcoding.aggregation import FisherVector
from kernelcoding.experiments import mixed
from kernelcoding.experiments.cache import Cache
from kernelcoding.experiments.definition import Request
from kernelcoding.experiments.statistics import (
    Covariance,
    Mixture,
    colour_covariances,
    fisher_vectors,
)
from kernelcoding.images import DenseRootSIFT, Masked, RegionCovariance
from kernelcoding.kernels import Gaussian, Linear, LogEuclideanGaussian, stein

N = 8


@pytest.fixture
def photographs(tmp_path, rng):
    """Images, and files that stand for them."""
    images = [Masked(rng.integers(0, 256, (40, 48, 3), dtype=np.uint8), None) for _ in range(N)]
    paths = []
    for number in range(N):
        paths.append(str(tmp_path / f"{number}.jpg"))
        (tmp_path / f"{number}.jpg").write_bytes(bytes([number]))
    return [image.image for image in images], paths
