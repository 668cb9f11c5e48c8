"""The Gabor bank: magnitudes of oriented band-pass filters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..validation import check_count, check_positive
from .channels import Channel
from .separable import Axis, Padding, check_padding, correlate_x, correlate_y


class Gabor(Channel):
    r"""Magnitudes of Gabor responses at several scales and orientations.

    .. math:: \psi_{s,o}(z) = \frac{k_s^2}{\sigma^2}
        \exp\!\Big(\!-\frac{k_s^2 \|z\|^2}{2\sigma^2}\Big)
        \big[\exp(i\,k_s e_o^\top z) - c_{s,o}\big], \quad k_s = k_0 / a^s, \quad
        e_o = \big(\cos\tfrac{\pi o}{O}, \sin\tfrac{\pi o}{O}\big)

    for the offset z = (x, y) in pixels, with x to the right and y down; the channel is
    :math:`|\psi * I|`. The constant c makes the taps sum to zero, so that a constant added to the
    image changes nothing; in the continuum it is :math:`\exp(-\sigma^2/2)`.

    Parameters
    ----------
    n_scales : int, default=5
        S, values of s from 0.
    n_orientations : int, default=4
        O.
    wavenumber : float, default=pi
        :math:`k_0` of the finest scale, in radians per pixel: pi is a wavelength of two pixels.
    spacing : float, default=sqrt(2)
        a, from one scale to the next.
    sigma : float, default=pi
        Width of the envelope in wavelengths times 2 pi; in pixels it is :math:`\sigma / k_s`.
    truncate : float, default=4.0
        The filter ends after this many widths of the envelope.
    padding : {"reflect", "symmetric", "edge"}, default="reflect"
        Beyond the edge, as in :func:`numpy.pad`.

    Notes
    -----
    The envelope is round, so that every filter is a sum of products of one filter along x and one
    along y, and orientations mirrored at an axis share them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.images.gabor import Gabor
    >>> stripes = np.cos(np.pi / 2 * np.arange(32))[None, None, :] * np.ones((1, 32, 1))
    >>> response = Gabor(n_scales=3, spacing=np.sqrt(2))(stripes)
    >>> response.shape
    (1, 12, 32, 32)
    >>> int(response.mean(axis=(0, 2, 3)).argmax())  # scale 2 (a wavelength of 4), orientation 0
    8
    """

    def __init__(
        self,
        n_scales: int = 5,
        n_orientations: int = 4,
        wavenumber: float = np.pi,
        spacing: float = 2**0.5,
        sigma: float = np.pi,
        truncate: float = 4.0,
        padding: Padding = "reflect",
    ) -> None:
        self.n_scales = n_scales
        self.n_orientations = n_orientations
        self.wavenumber = wavenumber
        self.spacing = spacing
        self.sigma = sigma
        self.truncate = truncate
        self.padding = padding

    def check(self) -> None:
        """Refuse parameters that make no filter."""
        check_padding(self.padding)
        for name in ("n_scales", "n_orientations"):
            check_count(f"Gabor: {name}", getattr(self, name))
        for name in ("wavenumber", "spacing", "sigma", "truncate"):
            check_positive(f"Gabor: {name}", getattr(self, name))

    def names(self) -> list[str]:
        """``gabor_s<scale>_o<orientation>``, scale by scale."""
        return [
            f"gabor_s{scale}_o{orientation}"
            for scale in range(self.n_scales)
            for orientation in range(self.n_orientations)
        ]

    def __call__(self, images: NDArray) -> NDArray:
        """Responses of gray images, (n, H, W) to (n, n_scales * n_orientations, H, W)."""
        n_images, height, width = images.shape
        responses = np.empty((n_images, self.n_scales, self.n_orientations, height, width))
        stack = np.ascontiguousarray(images.transpose(1, 0, 2))
        for scale in range(self.n_scales):
            wavenumber = self.wavenumber / self.spacing**scale
            self._respond(stack, wavenumber, responses[:, scale].transpose(1, 2, 0, 3))
        return responses.reshape(n_images, -1, height, width)

    def _respond(self, stack: NDArray, wavenumber: float, out: NDArray) -> None:
        """Magnitudes of (H, n, W) at one scale, written to ``out`` (n_orientations, H, n, W)."""
        # The small number keeps rounding from deciding whether a whole radius is exceeded.
        radius = int(np.ceil(self.truncate * self.sigma / wavenumber - 1e-9))
        phases = wavenumber * np.arange(-radius, radius + 1)
        envelope = wavenumber / self.sigma * np.exp(-0.5 * (phases / self.sigma) ** 2)
        x, y = (Axis(stack.shape[axis], len(phases), self.padding) for axis in (2, 0))

        def products(along_x: list[NDArray], along_y: list[NDArray]) -> list[list[NDArray]]:
            rows = (correlate_x(stack, x, taps) for taps in along_x)
            return [[correlate_y(row, y, taps) for taps in along_y] for row in rows]

        smooth = products([envelope], [envelope])[0][0]
        for across, down, members in directions(self.n_orientations):
            along_x, along_y = (waves(envelope, part * phases) for part in (across, down))
            mean = along_x[0].sum() * along_y[0].sum() / envelope.sum() ** 2
            filtered = products(along_x, along_y)
            filtered[0][0] -= mean * smooth
            for orientation, sign in members:
                write_magnitude(filtered, sign, out[orientation])


def waves(envelope: NDArray, phases: NDArray) -> list[NDArray]:
    """Taps of the cosine and the sine; of the cosine alone where there is no wave."""
    return [envelope * wave(phases) for wave in ((np.cos, np.sin) if phases.any() else (np.cos,))]


def write_magnitude(products: list[list[NDArray]], sign: int, out: NDArray) -> None:
    """Modulus of the response of a direction, from the products that `directions` explains."""
    sines_x, sines_y = len(products) > 1, len(products[0]) > 1
    real = products[0][0]
    if sines_x and sines_y:
        real = real - sign * products[1][1]
        imaginary = products[0][1] + sign * products[1][0]
    else:
        imaginary = products[1][0] if sines_x else products[0][1]
    square = np.square(real)
    square += np.square(imaginary)
    np.sqrt(square, out=out)


def directions(n_orientations: int) -> Iterator[tuple[float, float, list[tuple[int, int]]]]:
    """Cosine, sine and the orientations that have them, with the sign of the cosine.

    The filter of a direction (p, q) is ``exp(i(px + qy))``: its real part is cc - ss and its
    imaginary part sc + cs, in products of a cosine or sine along x with one along y. The mirrored
    direction (-p, q) is made of the same products with the other sign of the sine along x.
    """
    for orientation in range(n_orientations // 2 + 1):
        angle = np.pi * orientation / n_orientations
        upright = 2 * orientation == n_orientations
        members = [(orientation, 1)]
        if orientation > 0 and not upright:
            members.append((n_orientations - orientation, -1))
        yield (0.0 if upright else np.cos(angle)), np.sin(angle), members
