"""Sets of real descriptors to vectors: VLAD and Fisher vectors against scikit-image's Fisher
vectors, their kernel versions against the similarities to landmarks alone, a pyramid of LLC codes
against the coding alone. One thread.
"""

import numpy as np
from skimage.feature import fisher_vector
from sklearn.datasets import load_sample_images
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from kernelcoding import KernelLLC
from kernelcoding.aggregation import (
    VLAD,
    FisherVector,
    KernelFisherVector,
    KernelVLAD,
    SpatialPyramid,
)
from kernelcoding.images import DenseRootSIFT
from kernelcoding.kernels import Gaussian

from . import data
from .judge import Row, race

N_IMAGES = 20
GRADIENTS = ("weights", "means", "variances")


def records(n_images=N_IMAGES):
    """Dense RootSIFT of scenes, or of crops of two photographs where these are absent."""
    paths = sorted((data.DATA_HOME / "scene15" / "Images").glob("*/*.jpg"))
    images = [str(path) for path in paths[:: max(1, len(paths) // n_images)][:n_images]]
    if not images:
        crops = [image[:400, left : left + 200] for image in load_sample_images().images
                 for left in range(0, 440, 40)]  # fmt: skip
        images = [crop[200 * half : 200 * half + 200] for crop in crops for half in (0, 1)]
    return DenseRootSIFT(contrast_threshold=0).fit_transform(images[:n_images])


def run(quick=False):
    """Rows of the table."""
    repeats = 3 if quick else 7
    images = records()
    sets = [record.descriptors for record in images]
    with threadpool_limits(1):
        for n_words in (16, 64):
            yield from linear(sets, n_words, repeats)
            yield from in_space(sets, n_words, repeats)
        yield from pyramid(images, repeats)


def linear(sets, n_words, repeats):
    """The peer takes one image at a time."""
    fisher = FisherVector(n_words, GRADIENTS, power=1, norm=None, reg_covar=1e-4,
                          max_iter=100, n_samples=10_000, random_state=0).fit(sets)  # fmt: skip
    vlad = VLAD(n_words, n_samples=10_000, random_state=0).fit(sets)
    gmm = peer_of(fisher.mixture_)
    for name, aggregator in (("Fisher vectors", fisher), ("VLAD", vlad)):
        measured, (answer, other) = race(
            lambda a=aggregator: a.transform(sets),
            lambda: np.array([fisher_vector(one, gmm) for one in sets]),
            repeats,
        )
        facts = {}
        if aggregator is fisher:
            facts["largest difference"] = difference(answer, other, n_words)
        case = f"{name}, {n_words} words, {size_of(sets)}"
        yield Row("aggregation", case, "skimage fisher_vector", 1, measured, facts)


def in_space(sets, n_words, repeats):
    """The peer computes similarities to the landmarks, in the same precision, and nothing else."""
    everyone = np.concatenate(sets)
    kernel = Gaussian(gamma=1.0)
    vlad = KernelVLAD(kernel, n_words, n_samples=5000, random_state=0)
    fisher = KernelFisherVector(kernel, n_words, reg_covar=1e-4, n_samples=5000, random_state=0)
    for name, aggregator in (("kernel VLAD", vlad), ("kernel Fisher vectors", fisher)):
        landmarks = aggregator.fit(sets).coordinates_.landmarks.points
        measured, _ = race(
            lambda a=aggregator: a.transform(sets),
            lambda z=landmarks: in_blocks(everyone, z),
            repeats,
        )
        case = f"{name}, {n_words} words, {len(landmarks)} landmarks, {size_of(sets)}"
        yield Row("aggregation", case, "rbf_kernel alone", 1, measured)


def in_blocks(everyone, landmarks, rows=8192):
    for start in range(0, len(everyone), rows):
        rbf_kernel(everyone[start : start + rows].astype(np.float64), landmarks, gamma=1.0)


def size_of(sets):
    return f"{len(sets)} images, {sum(map(len, sets))} x {sets[0].shape[1]}"


def difference(answer, other, n_components):
    """Between Fisher vectors; the peer's variance part has the opposite sign of the gradient."""
    sign = np.ones(other.shape[1])
    sign[-((other.shape[1] - n_components) // 2) :] = -1.0
    return float(np.abs(answer - sign * other).max())


def peer_of(mixture):
    """The same mixture as scikit-learn's, which the peer wants."""
    gmm = GaussianMixture(len(mixture.weights), covariance_type="diag")
    gmm.weights_, gmm.means_, gmm.covariances_ = mixture.weights, mixture.means, mixture.variances
    gmm.precisions_cholesky_ = 1.0 / np.sqrt(mixture.variances)
    return gmm


def pyramid(images, repeats):
    """What pooling adds to coding."""
    everyone = np.concatenate([record.descriptors for record in images])
    coder = KernelLLC("linear", atoms=1024, random_state=0)
    aggregator = SpatialPyramid(coder, n_samples=10_000, random_state=0).fit(images)
    measured, _ = race(
        lambda: aggregator.transform(images),
        lambda: aggregator.coder_.transform(everyone),
        repeats,
    )
    case = f"pyramid (1, 2, 4) of LLC codes, 1024 atoms, {len(everyone)} descriptors"
    yield Row("aggregation", case, "the codes alone", 1, measured)
