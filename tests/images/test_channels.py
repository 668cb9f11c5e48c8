import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import ndimage

from kernelcoding.images.channels import Colour, Derivatives, Position
from kernelcoding.images.gabor import Gabor
from reference.channels import naive_bank, texture

# numpy's name of a padding to SciPy's
SCIPY_MODE = {"reflect": "mirror", "symmetric": "reflect", "edge": "nearest"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_orientations": 1},
        {"n_orientations": 3, "n_scales": 2},
        {"n_orientations": 8, "n_scales": 1},
        {"wavenumber": np.pi / 2, "sigma": 2.0, "n_scales": 3, "truncate": 2.5},
    ],
    ids=str,
)
def test_gabor_equals_convolution_with_the_kernel_of_scikit_image(options, rng):
    image = texture(rng, 20, 31)
    assert_allclose(Gabor(**options)(image[None])[0], naive_bank(image, **options), atol=1e-12)


@pytest.mark.parametrize("padding", SCIPY_MODE)
def test_paddings_are_those_of_scipy(padding, rng):
    image, mode = texture(rng, 12, 15), SCIPY_MODE[padding]
    bank = Gabor(n_scales=3, padding=padding)(image[None])[0]
    assert_allclose(bank, naive_bank(image, n_scales=3, mode=mode), atol=1e-12)
    down = ndimage.correlate1d(image, [1, -2, 1], 0, mode=mode)
    derivatives = Derivatives(2, absolute=False, padding=padding)(image[None])[0]
    assert_allclose(derivatives[1], down, atol=1e-15)


@pytest.mark.parametrize("size", [(230, 9), (9, 230), (3, 5), (1, 7), (2, 1)], ids=str)
def test_long_and_tiny_images(size, rng):
    image = rng.uniform(size=size)
    options = {"n_scales": 3, "sigma": 3.0}
    assert_allclose(Gabor(**options)(image[None])[0], naive_bank(image, **options), atol=1e-12)


def test_gabor_ignores_the_mean_and_finds_the_wave():
    y, x = np.mgrid[:64, :64]
    flat = Gabor()(np.full((1, 30, 30), 0.7))
    assert np.abs(flat).max() < 1e-14
    bank = Gabor()
    for scale in (2, 3):
        for orientation in range(4):
            angle = np.pi * orientation / 4
            phase = np.pi / np.sqrt(2) ** scale * (np.cos(angle) * x + np.sin(angle) * y)
            inside = bank(np.cos(phase)[None])[0, :, 24:40, 24:40]
            means = inside.reshape(5, 4, -1).mean(axis=2)
            # The envelope integrates to 2 pi; a cosine has half its energy at +k.
            assert_allclose(means[scale, orientation], np.pi, rtol=0.02)
            assert means[scale].argmax() == orientation


def test_derivatives_of_polynomials():
    y, x = np.mgrid[:9, :11].astype(float)
    image = 0.5 + 2 * x - 3 * y + 0.25 * x**2 - 0.75 * y**2 + 0.1 * x * y
    inside = (slice(None), slice(1, -1), slice(1, -1))
    signed = {order: Derivatives(order, absolute=False)(image[None])[0] for order in (1, 2)}
    first = np.stack([2 + 0.5 * x + 0.1 * y, -3 - 1.5 * y + 0.1 * x])
    assert_allclose(signed[1][inside], first[inside], atol=1e-12)
    assert_allclose(signed[2][0][1:-1, 1:-1], 0.5, atol=1e-12)
    assert_allclose(signed[2][1][1:-1, 1:-1], -1.5, atol=1e-12)
    assert_allclose(signed[1][0][:, [0, -1]], 0.0, atol=1e-15)  # reflected: no slope at the edge
    assert_allclose(Derivatives(1)(image[None])[0], np.abs(signed[1]))
    assert Derivatives(2).names() == ["|I_xx|", "|I_yy|"]
    assert Derivatives(1, absolute=False).names() == ["I_x", "I_y"]


def test_position_and_colour():
    assert_allclose(Position()(np.zeros((2, 2, 3)))[1], [[[-1, 0, 1]] * 2, [[-1] * 3, [1] * 3]])
    assert_allclose(Position()(np.zeros((1, 1, 1))), 0.0)
    picture = np.arange(2 * 4 * 5 * 3, dtype=float).reshape(2, 4, 5, 3)
    assert_allclose(Colour()(picture)[1, 2], picture[1, :, :, 2])
