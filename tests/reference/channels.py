"""The paper's channels of one image, one filter after the other."""

import numpy as np
import pytest
from scipy import ndimage


def texture(rng, height, width):
    """A smooth random image in [0, 1]."""
    noise = ndimage.gaussian_filter(rng.normal(size=(height, width)), 1.0, mode="wrap")
    return (noise - noise.min()) / np.ptp(noise)


def naive_gabor(image, wavenumber, angle, sigma, truncate=4.0, mode="mirror"):
    """One response: the kernel of scikit-image on our grid, made to sum to zero."""
    filters = pytest.importorskip("skimage.filters")
    width = sigma / wavenumber
    kernel = filters.gabor_kernel(
        wavenumber / (2 * np.pi), angle, sigma_x=width, sigma_y=width, n_stds=3 * truncate
    )
    radius = int(np.ceil(truncate * width - 1e-9))
    middle = [size // 2 for size in kernel.shape]
    window = tuple(slice(m - radius, m + radius + 1) for m in middle)
    kernel = 2 * np.pi * kernel[window]
    envelope = np.abs(kernel)
    kernel = kernel - envelope * kernel.sum() / envelope.sum()
    real, imaginary = (ndimage.convolve(image, part, mode=mode)
                       for part in (kernel.real, kernel.imag))  # fmt: skip
    return np.hypot(real, imaginary)


def naive_bank(image, n_scales=5, n_orientations=4, wavenumber=np.pi, sigma=np.pi, **options):
    return np.stack([
        naive_gabor(image, wavenumber / np.sqrt(2) ** s, np.pi * o / n_orientations, sigma,
                    **options)
        for s in range(n_scales) for o in range(n_orientations)
    ])  # fmt: skip


def naive_channels(image):
    """The paper's 25 channels, one after the other."""
    first = [ndimage.correlate1d(image, [-0.5, 0, 0.5], axis, mode="mirror") for axis in (1, 0)]
    second = [ndimage.correlate1d(image, [1, -2, 1], axis, mode="mirror") for axis in (1, 0)]
    return np.concatenate([[image], np.abs(first), np.abs(second), naive_bank(image)])
