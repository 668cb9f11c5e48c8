"""What a dense descriptor of an image returns."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class ImageDescriptors:
    """Descriptors of the patches of one image.

    ``len(record)`` is n, the number of patches, which may be 0.

    Attributes
    ----------
    descriptors : array of shape (n, d)
        Single precision.
    positions : array of shape (n, 2)
        Row and column of the centres, in pixels of the image.
    scales : array of shape (n,)
        Widths of the patches, in pixels of the image.
    shape : tuple of two int
        Height and width of the image.

    Examples
    --------
    >>> from sklearn.datasets import load_sample_image
    >>> from kernelcoding.images import DenseRootSIFT
    >>> (record,) = DenseRootSIFT(step=16).fit_transform([load_sample_image("china.jpg")])
    >>> record.descriptors.shape[1], len(record) == len(record.positions)
    (128, True)
    """

    descriptors: NDArray  # (n, d)  float32
    positions: NDArray  # (n, 2)  row and column of the centres, in pixels of the image
    scales: NDArray  # (n,)    widths of the patches, in pixels of the image
    shape: tuple[int, int]  # height and width of the image

    def __len__(self) -> int:
        return len(self.descriptors)
