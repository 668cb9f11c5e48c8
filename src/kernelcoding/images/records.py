"""What a dense descriptor of an image returns."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class ImageDescriptors:
    """Descriptors of the patches of one image.

    ``len(record)`` is n, the number of patches, which may be 0.
    """

    descriptors: NDArray  # (n, d)  float32
    positions: NDArray  # (n, 2)  row and column of the centres, in pixels of the image
    scales: NDArray  # (n,)    widths of the patches, in pixels of the image
    shape: tuple[int, int]  # height and width of the image

    def __len__(self) -> int:
        return len(self.descriptors)
