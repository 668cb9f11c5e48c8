"""Sixty samples of three classes: vectors, matrices, subspaces and rows of a Gram matrix."""

import numpy as np

from kernelcoding.kernels import (
    LogEuclideanGaussian,
    MultipleKernel,
    ProjectionGaussian,
    View,
)

LABELS = np.repeat([0, 1, 2], 20)


def several_views(gram=True):
    """One stack per view, with classes that every view tells apart a little."""
    rng = np.random.default_rng(0)
    n = len(LABELS)
    loads = rng.normal(size=(n, 3, 6))
    loads[:, 0] *= (1 + LABELS)[:, None]
    shift = LABELS[:, None, None] * np.eye(4)[None, :, :2]
    vectors = rng.normal(size=(n, 3)) + LABELS[:, None]
    views = {
        "covariance": loads @ loads.transpose(0, 2, 1) / 6 + 0.1 * np.eye(3),
        "words": rng.poisson(2 + 3 * (np.arange(5) == LABELS[:, None])).astype(float),
        "subspace": np.linalg.qr(rng.normal(size=(n, 4, 2)) + shift)[0],
    }
    return views | {"gram": vectors @ vectors.T + 1.0} if gram else views


def members(gram=True):
    """The kernel of each view."""
    kernels = {
        "covariance": LogEuclideanGaussian("median"),
        "words": "chi2",
        "subspace": ProjectionGaussian("median"),
    }
    return kernels | {"gram": "precomputed"} if gram else kernels


def kernel_of_views(gram=True, positions=False):
    """A weighted sum of one kernel per view."""
    pairs = members(gram).items()
    return MultipleKernel(
        [View(i if positions else name, kernel) for i, (name, kernel) in enumerate(pairs)]
    )


def frame_of(views):
    """The views as columns of objects."""
    import pandas

    return pandas.DataFrame({name: list(stack) for name, stack in views.items()})


def part(views, rows, columns):
    """Samples of plain stacks, with the columns of the Gram matrix that go with a training set."""
    chosen = {name: stack[rows] for name, stack in views.items()}
    if "gram" in chosen:
        chosen["gram"] = chosen["gram"][:, columns]
    return chosen
