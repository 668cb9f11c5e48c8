"""A small PNG encoder: pictures as text, for pages without other files."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SIDE = 48  # pixels of the longer side; photographs do not compress well


def data_uri(source: str | Path | NDArray, side: int = SIDE) -> str | None:
    """A picture as ``data:image/png;base64,...``, shrunk; None if it cannot be read.

    Parameters
    ----------
    source : path or array
        An image as :mod:`kernelcoding.images` reads them.
    side : int, default=48
        Longest side in pixels.

    Returns
    -------
    uri : str or None
    """
    pixels = _pixels(source)
    if pixels is None:
        return None
    step = -(-max(pixels.shape[:2]) // side)
    png = _png(_shrunk(pixels, step))
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _pixels(source: str | Path | NDArray) -> NDArray | None:
    if isinstance(source, np.ndarray):
        image = source
    else:
        from ...images.reading import read_image

        try:
            image = read_image(source)
        except (ValueError, ImportError):  # the result does not depend on it
            return None
    pixels = np.asarray(image, dtype=np.float64)
    if image.dtype == np.uint16:
        pixels = pixels / 257.0
    elif image.dtype != np.uint8:
        pixels = 255.0 * (pixels - pixels.min()) / max(float(np.ptp(pixels)), 1e-12)
    return pixels[..., :3] if pixels.ndim == 3 else pixels


def _shrunk(pixels: NDArray, step: int) -> NDArray:
    """Means of blocks of ``step`` pixels."""
    height, width = (length // step * step for length in pixels.shape[:2])
    blocks = pixels[:height, :width].reshape(
        height // step, step, width // step, step, *pixels.shape[2:]
    )
    return blocks.mean(axis=(1, 3)).round().astype(np.uint8)


def _png(pixels: NDArray) -> bytes:
    """Gray or red-green-blue pixels of 8 bits as a PNG file."""
    height, width = pixels.shape[:2]
    colour = 2 if pixels.ndim == 3 and pixels.shape[2] == 3 else 0
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
