"""Fisher vectors of SIFT at many resolutions, in cells of the image: VLFeat's public pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...images.reading import ImageLike
from ...images.records import ImageDescriptors
from ..cache import depends_on
from ..definition import Request
from .resolutions import ResolutionSIFT
from .training_images import drawn_descriptors, drawn_images

if TYPE_CHECKING:
    from ...aggregation import FisherVector


@dataclass(frozen=True, slots=True)
class FisherPyramid:
    """How images become Fisher vectors of their cells."""

    n_components: int
    n_pca: int
    step: int  # pixels between patches, at every resolution
    width: int  # of patches, at every resolution
    resolutions: tuple[float, ...]  # 2: the image is enlarged to twice its side first
    cells: tuple[tuple[int, int], ...]  # rows and columns of each grid
    n_samples: int  # descriptors that the mixture is learned from
    n_images: int  # images they are drawn from
    mirrored: bool = False  # whether the mirror image is described, too


def fisher_pyramids(
    request: Request,
    how: FisherPyramid,
    images: Sequence[ImageLike],
    paths: Sequence[str],
    among: NDArray,
) -> NDArray:
    """Fisher vectors of all cells, one after the other, of unit norm (n, d), computed once.

    Parameters
    ----------
    request : Request
    how : FisherPyramid
    images : sequence
        Paths or masked images.
    paths : sequence of str
        Files that the vectors depend on.
    among : array of int
        Images that the mixture may be learned from.
    """
    return request.cache.array(
        "fisher-pyramid",
        depends_on((how, among.tolist()), paths),
        lambda: _fisher_pyramids(how, images, among, request.n_jobs),
    )


def _fisher_pyramids(
    how: FisherPyramid,
    images: Sequence[ImageLike],
    among: NDArray,
    n_jobs: int | None,
) -> NDArray:
    from ...aggregation import FisherVector

    extractor = ResolutionSIFT(how.resolutions, how.width, how.step, how.mirrored, n_jobs=n_jobs)
    few = drawn_images(images, among, how.n_images)
    fisher = FisherVector(how.n_components, n_pca=how.n_pca, n_samples=None, random_state=0)
    fisher.fit(drawn_descriptors(extractor, few, how.n_samples))
    vectors, _ = extractor.map(images, lambda _, record: cell_vectors(fisher, record, how.cells))
    return np.stack(vectors).astype(np.float32)


def cell_vectors(
    fisher: FisherVector, record: ImageDescriptors, cells: tuple[tuple[int, int], ...]
) -> NDArray:
    """Fisher vectors of the cells of one image, each of unit norm or zero, together of unit norm.

    Parameters
    ----------
    fisher : FisherVector
        Fitted.
    record : ImageDescriptors
    cells : tuple of (rows, columns)
        Grids.
    """
    finest = np.lcm.reduce(cells)  # its cells make up those of every grid
    places = (record.positions + 0.5) / np.array(record.shape)
    along = np.clip(np.floor(places * finest), 0, finest - 1).astype(int)
    numbers = along[:, 0] * finest[1] + along[:, 1]
    parts = [record.descriptors[numbers == number] for number in range(np.prod(finest))]
    layout = np.arange(np.prod(finest)).reshape(finest)
    unions = [
        cell.ravel().tolist()
        for rows, columns in cells
        for row in np.split(layout, rows)
        for cell in np.split(row, columns, axis=1)
    ]
    vectors = fisher.transform_unions(parts, unions).astype(float)
    return vectors.ravel() / max(np.linalg.norm(vectors), np.finfo(float).tiny)
