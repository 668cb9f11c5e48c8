"""Descriptors of images: dense RootSIFT against OpenCV's SIFT on the same grid, words against
scikit-learn.
"""

import time

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin
from threadpoolctl import threadpool_limits

from kernelcoding.images import DenseRootSIFT
from kernelcoding.images.codebook import learn_words, nearest_words
from kernelcoding.images.reading import read_image

from . import data
from .judge import Measured, Row, race

SCALES = ((8,), (16,), (32,), (8, 12, 16))
SETS = {"FMD 512 x 384": "fmd/image/*/*.jpg", "Scene-15 200 x 200": "scene15/Images/*/*.jpg"}


def run(quick=False):
    """Rows of the table."""
    yield from sift(2 if quick else 5)
    yield from assignment(2 if quick else 5)
    yield from codebook(*((20_000, 400) if quick else (500_000, 8_000)))


def images(pattern, count):
    """Gray images spread over a set; fewer, or none, where it is absent."""
    import cv2

    paths = sorted(data.DATA_HOME.glob(pattern))
    for path in paths[:: max(1, len(paths) // count)][:count]:
        image = read_image(path)
        yield cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) if image.ndim == 3 else image


def sift(repeats):
    """The same patches on both sides; patches of one width are smoothed alike, too."""
    import cv2

    cv2.setNumThreads(1)
    peer = cv2.SIFT_create()
    for name, pattern in SETS.items():
        grays = list(images(pattern, 4))
        for scales in SCALES if grays else ():
            alike = len(scales) == 1
            ours = DenseRootSIFT(scales=scales, smoothing=1.6 / (scales[0] / 4) if alike else 0.0)
            grids = [keypoints(record) for record in ours.transform(grays)]
            with threadpool_limits(1):
                measured, (records, theirs) = race(
                    lambda o=ours, g=grays: o.transform(g),
                    lambda g=grays, k=grids: [
                        peer.compute(image, points)[1] for image, points in zip(g, k, strict=True)
                    ],
                    repeats,
                    at_most=60.0,
                )
            facts = {"patches": sum(map(len, records))}
            if alike:
                facts["median distance"] = distance(records, theirs)
            case = f"{name}, patches of {', '.join(map(str, scales))} pixels"
            yield Row("images", case, "OpenCV SIFT.compute", 1, measured, facts)


def keypoints(record):
    """The grid of a record as OpenCV wants it."""
    import cv2

    pairs = zip(record.positions.tolist(), record.scales.tolist(), strict=True)
    return [cv2.KeyPoint(column, row, width / 6, 0.0) for (row, column), width in pairs]


def distance(records, theirs):
    """Median distance of our descriptors to the square roots of OpenCV's."""
    ours = np.concatenate([record.descriptors for record in records])
    others = np.concatenate(theirs)
    others = np.sqrt(others / np.maximum(others.sum(axis=1, keepdims=True), 1))
    return float(np.median(np.linalg.norm(ours - others, axis=1)))


def unit_vectors(count, seed):
    """Random non-negative unit vectors: the cost does not depend on what they are."""
    values = np.random.default_rng(seed).random((count, 128), dtype=np.float32) ** 4
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def assignment(repeats):
    descriptors = unit_vectors(20_000, 0)
    for n_words in (800, 8_000):
        words = unit_vectors(n_words, 1)
        with threadpool_limits(1):
            measured, (ours, theirs) = race(
                lambda w=words: nearest_words(descriptors, w),
                lambda w=words: pairwise_distances_argmin(descriptors, w),
                repeats,
            )
        facts = {"agreement": float(np.mean(ours == theirs))}
        case = f"nearest of {n_words} words, 20000 x 128"
        yield Row("images", case, "pairwise_distances_argmin", 1, measured, facts)


def codebook(n_samples, n_words):
    """The peer is scikit-learn's mini-batch k-means as it comes."""
    sample = training_descriptors(n_samples)

    def inertia(words):
        nearest = nearest_words(sample, np.asarray(words, np.float32))
        return float(np.mean(((sample - words[nearest]) ** 2).sum(axis=1)))

    begin = time.perf_counter()  # minutes: one run each
    ours = learn_words(sample, n_words, "auto", np.random.RandomState(0))
    middle = time.perf_counter()
    theirs = MiniBatchKMeans(n_words, n_init=1, random_state=0).fit(sample).cluster_centers_
    measured = Measured(middle - begin, time.perf_counter() - middle)
    facts = {"our inertia": inertia(ours), "peer inertia": inertia(theirs)}
    case = f"codebook, {n_words} words of {len(sample)} descriptors"
    yield Row("images", case, "MiniBatchKMeans", 2, measured, facts)


def training_descriptors(count):
    """Descriptors of real images, or random vectors where there are none."""
    grays = list(images(SETS["FMD 512 x 384"], 100))
    if not grays:
        return unit_vectors(count, 2)
    rng = np.random.default_rng(0)
    values = np.concatenate([r.descriptors for r in DenseRootSIFT(scales=[16]).transform(grays)])
    return values[rng.permutation(len(values))[:count]]
