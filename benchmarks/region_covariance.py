"""Region covariances of a stack against the same channels image by image: with scikit-image's Gabor
filter, and with one complex FFT convolution a filter.
"""

import numpy as np
from scipy import ndimage
from scipy.signal import fftconvolve
from threadpoolctl import threadpool_limits

from kernelcoding.images import RegionCovariance
from kernelcoding.images.reading import read_image

from . import data
from .judge import Row, race

RIDGE = 1e-4


def run(quick=False):
    """Rows of the table."""
    repeats = 1 if quick else 5
    for name, images in stacks(60 if quick else 150):
        for peer, respond in (("scikit-image gabor", by_filter), ("scipy fftconvolve", by_fft)):
            yield compare(name, images, peer, respond, repeats)


def stacks(n_images):
    """Small images of the Virus set (noise where it is absent), and a few of photo size."""
    rng = np.random.default_rng(0)
    virus = virus_images()
    small = rng.uniform(size=(1500, 41, 41)) if virus is None else virus
    yield f"{n_images} images 41 x 41", small[:: 1500 // n_images][:n_images]
    yield "4 images 384 x 512", ndimage.gaussian_filter(rng.uniform(size=(4, 384, 512)), (0, 2, 2))


def virus_images():
    folder = data.DATA_HOME / "virus" / "images"
    if not folder.is_dir():
        return None
    return np.stack([read_image(path) for path in sorted(folder.glob("*.png"))])


def compare(name, images, peer, respond, repeats):
    ours = RegionCovariance("paper", standardize=False, ridge=RIDGE)
    with threadpool_limits(1):
        measured, (fast, slow) = race(
            lambda: ours.fit_transform(images),
            lambda: np.stack([covariance(image, respond) for image in images]),
            repeats,
            at_most=30.0,
        )
    size = np.abs(slow).max(axis=(1, 2), keepdims=True)
    facts = {
        "ours ms an image": 1e3 * measured.ours / len(images),
        "largest difference": float((np.abs(fast - slow) / size).max()),
    }
    return Row("region_covariance", name, peer, 1, measured, facts)


def covariance(image, respond):
    """One image, one channel after the other, as the formulas are written."""
    if image.dtype == np.uint8:
        image = image / 255.0
    channels = [image]
    for taps in ([-0.5, 0.0, 0.5], [1.0, -2.0, 1.0]):
        channels += [np.abs(ndimage.correlate1d(image, taps, axis, mode="mirror"))
                     for axis in (1, 0)]  # fmt: skip
    for scale in range(5):
        channels += [respond(image, np.pi / np.sqrt(2) ** scale, np.pi * o / 4) for o in range(4)]
    matrix = np.cov(np.stack(channels).reshape(len(channels), -1))
    return matrix + RIDGE * np.trace(matrix) / len(matrix) * np.eye(len(matrix))


def by_filter(image, wavenumber, angle):
    """scikit-image: two convolutions with its own kernel, which does not sum to zero."""
    from skimage.filters import gabor

    width = np.pi / wavenumber
    frequency = wavenumber / (2 * np.pi)
    parts = gabor(image, frequency, angle, sigma_x=width, sigma_y=width, n_stds=4, mode="mirror")
    return 2 * np.pi * np.hypot(*parts)


def by_fft(image, wavenumber, angle):
    """The kernel of the docstring of Gabor, in the frequency domain."""
    radius = int(np.ceil(4 * np.pi / wavenumber - 1e-9))
    y, x = wavenumber * np.mgrid[-radius : radius + 1, -radius : radius + 1]
    envelope = (wavenumber / np.pi) ** 2 * np.exp(-(x**2 + y**2) / (2 * np.pi**2))
    kernel = envelope * np.exp(1j * (np.cos(angle) * x + np.sin(angle) * y))
    kernel -= envelope * kernel.sum() / envelope.sum()
    return np.abs(fftconvolve(np.pad(image, radius, mode="reflect"), kernel, mode="valid"))
