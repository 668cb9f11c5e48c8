"""Real data for the benchmarks, as similarity arrays."""

import gzip
import os
from pathlib import Path

import numpy as np
from scipy.ndimage import zoom
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.preprocessing import normalize

from kernelcoding.problem import CodingProblem

DATA_HOME = Path(os.environ.get("KERNELCODING_DATA", "../shared/data"))


def yaleb():
    """Extended YaleB random faces, unit rows: 1216 training and 1198 test samples, and labels."""
    path = DATA_HOME / "yaleb" / "random_faces_504.npz"
    if not path.exists():
        return None
    file = np.load(path)
    features = normalize(file["F"].astype(np.float64))
    train = file["train"]
    return features[train], features[~train], file["y"][train], file["y"][~train]


def digits(n_atoms, seed=0):
    """Digits, shuffled: the first samples are atoms, the others queries, with labels."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    X, y = X[order] / 16.0, y[order]
    return X[:n_atoms], X[n_atoms:], y[:n_atoms], y[n_atoms:]


def median_squared_distance(X):
    """Median of the squared distances between different samples."""
    distances = euclidean_distances(X, squared=True)
    return np.median(distances[np.triu_indices(len(X), 1)])


def gaussian_problem(atoms, queries, width):
    """Coding problem for the Gaussian kernel with ``gamma = width / median``."""
    gamma = width / median_squared_distance(atoms)
    gram = rbf_kernel(atoms, gamma=gamma)
    return CodingProblem(np.ones(len(queries)), rbf_kernel(queries, atoms, gamma=gamma), gram)


def factor(problem):
    """Vectors with the same inner products: ``A'A = K``, ``A'x = k``, for peers without kernels."""
    values, vectors = np.linalg.eigh(problem.gram)
    kept = values > values[-1] * 1e-14
    root = np.sqrt(values[kept])
    atoms = root[:, None] * vectors[:, kept].T
    samples = (problem.cross @ vectors[:, kept]) / root
    return np.asfortranarray(atoms), np.asfortranarray(samples.T)


def fashion(n_samples):
    """Fashion-MNIST: that many training and test samples, pixels from 0 to 1; None if absent."""
    found = fashion_with_labels()
    return None if found is None else (found[0][:n_samples], found[2][:n_samples])


def fashion_with_labels():
    """All of Fashion-MNIST: training samples and labels, test samples and labels; or None."""
    for folder in (DATA_HOME / "fashion-mnist", Path("/usr/share/datasets/fashion-mnist")):
        paths = [
            next(iter(folder.glob(f"{part}-{kind}-ubyte*")), None)
            for part in ("train", "t10k")
            for kind in ("images-idx3", "labels-idx1")
        ]
        if all(paths):
            train, y_train, test, y_test = paths
            return read_images(train), read_labels(y_train), read_images(test), read_labels(y_test)
    return None


def small_fashion(n_train, n_test):
    """Fashion-MNIST in 16 x 16 pixels: some training and test samples, their labels; or None."""
    found = fashion_with_labels()
    if found is None:
        return None
    train, y_train, test, y_test = found
    few = (smaller(train[:n_train]), smaller(test[:n_test]))
    return *few, y_train[:n_train], y_test[:n_test]


def smaller(images):
    """Images of 28 x 28 pixels in 16 x 16."""
    pixels = zoom(images.reshape(-1, 28, 28), (1, 16 / 28, 16 / 28), order=1)
    return pixels.reshape(len(images), -1)


def read_bytes(path, skipped):
    """Content of an IDX file, zipped or not, after its head."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return np.frombuffer(content, np.uint8, offset=skipped)


def read_images(path):
    """Images, one row each."""
    return read_bytes(path, 16).reshape(-1, 784) / 255.0


def read_labels(path):
    """One per image."""
    return read_bytes(path, 8).astype(int)
