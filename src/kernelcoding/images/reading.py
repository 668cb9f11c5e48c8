"""Images from files or arrays, checked; errors name the image and what is wrong with it.

A *source* is a path, or an array of shape (H, W), (H, W, 1), (H, W, 3) or (H, W, 4) whose pixels
are unsigned integers of 8 or 16 bits, floating-point numbers or booleans. Colours are red, green,
blue; a fourth channel (opacity) is dropped.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..distributed.inputs import is_lazy
from .extras import optional

Source = TypeVar("Source")
Answer = TypeVar("Answer")

ON_ERROR = ("raise", "skip")
CHANNELS = (1, 3, 4)
# Rec. 601 luma: what OpenCV and the published dense SIFT pipelines call gray.
LUMA = np.array([0.299, 0.587, 0.114])
FULL_SCALE = {np.dtype(np.uint8): 255.0, np.dtype(np.uint16): 65535.0}


@dataclass(frozen=True, slots=True)
class Unusable:
    """An image that was skipped, and why."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """An image and the part of it that counts, for transformers that look at patches or pixels.

    Parameters
    ----------
    image : path or array
        A source as any other.
    mask : path or array of the same height and width
        Bright pixels (over half of full scale, or True) count.

    Examples
    --------
    >>> from sklearn.datasets import load_sample_image
    >>> from kernelcoding.images import Masked, RegionCovariance
    >>> image = load_sample_image("flower.jpg")[::8, ::8]
    >>> flower = Masked(image, image[:, :, 0] > 128)
    >>> RegionCovariance().fit_transform([flower]).ndim
    3
    """

    image: os.PathLike[str] | ArrayLike
    mask: os.PathLike[str] | ArrayLike


ImageLike: TypeAlias = os.PathLike[str] | ArrayLike | Masked  # a str is a path
Images: TypeAlias = Sequence[ImageLike] | NDArray  # a stack (n, H, W) or (n, H, W, 3) is a list


def attempts(
    function: Callable[[int, Source], Answer], on_error: str
) -> Callable[[int, Source], Answer | Unusable]:
    """The same function of (index, source), where a ValueError names the source or is returned.

    With ``on_error="skip"`` a source that cannot be used gives `Unusable`.
    """
    if on_error not in ON_ERROR:
        raise ValueError(f"on_error must be one of {ON_ERROR}, got {on_error!r}.")

    def attempt(index: int, source: Source) -> Answer | Unusable:
        try:
            return function(index, source)
        except ValueError as error:
            # The reader of files names the path, too: once is enough.
            told = str(error).removeprefix(f"{path_of(source)} ")
            reason = f"Image {name_of(index, source)}: {told}"
            if on_error == "skip":
                return Unusable(index, reason)
            raise ValueError(reason) from error

    return attempt


def warn_of(failures: Sequence[Unusable], total: int) -> None:
    """One warning that names every skipped image."""
    if failures:
        reasons = "\n".join(f"- {failure.reason}" for failure in failures)
        warnings.warn(f"Skipped {len(failures)} of {total} images:\n{reasons}", stacklevel=3)


def readable(sources: Images, *others: Sequence[Any] | NDArray) -> tuple[list[Any], ...]:
    """The images that can be read, with the matching entries of other sequences (labels).

    Transformers with ``on_error="skip"`` return fewer rows than they were given, which a Pipeline
    with labels cannot use. Call this first: what is left fits, and one warning says what was
    dropped.

    Parameters
    ----------
    sources : list of paths or arrays
    *others : sequences as long as `sources`

    Returns
    -------
    tuple of lists
        The kept sources, then the kept entries of each of the others, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelcoding.images.reading import readable
    >>> faces = [np.zeros((8, 8), dtype=np.uint8), np.ones((8, 8))]
    >>> images, labels = readable(faces, ["a", "b"])
    >>> labels
    ['a', 'b']
    """
    listed = list_of(sources)
    for other in others:
        if len(other) != len(listed):
            raise ValueError(f"Expected {len(listed)} entries, one per image, got {len(other)}.")

    def look(_: int, source: ImageLike) -> None:
        parts_of(source)

    attempt = attempts(look, "skip")
    answers = [attempt(index, source) for index, source in enumerate(listed)]
    warn_of([answer for answer in answers if answer is not None], len(listed))
    kept = [index for index, answer in enumerate(answers) if answer is None]
    return tuple([sequence[index] for index in kept] for sequence in (listed, *others))


def list_of(sources: Iterable[Source]) -> list[Source]:
    """The sources as a list; a single path or image is refused with a sentence."""
    if isinstance(sources, (str, os.PathLike)):
        advice = (
            "list its pictures by kernelcoding.images.load_folder(path).files."
            if os.path.isdir(sources)
            else "wrap it in a list."
        )
        raise ValueError(f"Expected a list of images, got one path, {str(sources)!r}: {advice}")
    if getattr(sources, "ndim", 3) == 2:
        raise ValueError(
            "Expected a list of images, got one array of 2 dimensions: wrap it in a list."
        )
    if is_lazy(sources):
        raise ValueError(
            "Images of Dask would all be read in this process: pass a list of them, or use the "
            "transform of an extractor, ImageAggregator, VisualWords or RegionCovariance, which "
            "reads them block by block."
        )
    listed = list(sources)
    if not listed:
        raise ValueError("Expected a list of images, got an empty one.")
    return listed


def path_of(source: object) -> str | os.PathLike | None:
    """The path of an image that is a file."""
    image = source.image if isinstance(source, Masked) else source
    return image if isinstance(image, (str, os.PathLike)) else None


def name_of(index: int, source: object) -> str:
    """How messages call a source: its place in the list, and its path if it has one."""
    path = path_of(source)
    return str(index) if path is None else f"{index} ({path})"


def read_image(source: ImageLike) -> NDArray:
    """The checked array of one path or array, shape (H, W) or (H, W, 3).

    Parameters
    ----------
    source : path or array
        See the top of this file.

    Returns
    -------
    array (H, W) or (H, W, 3) of uint8, uint16 or a floating type
        Files come turned as their EXIF orientation says.

    Raises
    ------
    ValueError
        The file cannot be read or is truncated (the message names it), or the array is no image:
        wrong dimensions, channels or type, no pixels, NaN or infinite pixels.
    """
    if isinstance(source, Masked):
        raise ValueError("a mask is of no use here: pass the image alone.")
    if isinstance(source, (str, os.PathLike)):
        return checked(read_pixels(Path(source)))
    return checked(np.asarray(source))


def read_pixels(path: Path) -> NDArray:
    """Pixels of a file in any format of OpenCV, red first."""
    cv2 = optional("cv2")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read the file {path}: {error.strerror}.") from error
    check_complete(content, path)
    flags = cv2.IMREAD_ANYDEPTH | cv2.IMREAD_ANYCOLOR
    pixels = cv2.imdecode(np.frombuffer(content, np.uint8), flags) if content else None
    if pixels is None:
        raise ValueError(
            f"{path} is not an image that OpenCV can read: truncated, or another format."
        )
    return pixels[..., ::-1] if pixels.ndim == 3 else pixels


def check_complete(content: bytes, path: Path) -> None:
    """Refuse a truncated file: OpenCV would fill the missing part with gray and not say so."""
    image = optional("PIL.Image")
    try:
        with image.open(BytesIO(content)) as opened:
            opened.load()
    except image.UnidentifiedImageError:
        return  # not a format of Pillow: OpenCV decides
    except (OSError, SyntaxError, ValueError, EOFError, image.DecompressionBombError) as error:
        raise ValueError(f"{path} is truncated, damaged or too large: {error}.") from error


def checked(image: NDArray) -> NDArray:
    """An array that is an image, without its opacity; else a ValueError that says why not."""
    if image.ndim == 3 and image.shape[2] not in CHANNELS:
        raise ValueError(f"expected 1, 3 or 4 channels last, got shape {image.shape}.")
    if image.ndim not in (2, 3):
        raise ValueError(f"expected an array of 2 or 3 dimensions, got shape {image.shape}.")
    if image.size == 0:
        raise ValueError(f"expected pixels, got shape {image.shape}.")
    if image.dtype == bool:
        image = image.astype(np.uint8) * np.uint8(255)
    if image.dtype not in FULL_SCALE and image.dtype.kind != "f":
        raise ValueError(
            f"expected pixels of type uint8, uint16 or floating point, got {image.dtype}: "
            "convert with astype."
        )
    if image.dtype.kind == "f" and not np.isfinite(image).all():
        raise ValueError("pixels are NaN or infinite: fill or crop them first.")
    if image.ndim == 3:
        return image[..., 0] if image.shape[2] == 1 else image[..., :3]
    return image


def parts_of(source: ImageLike) -> tuple[NDArray, NDArray | None]:
    """Pixels and mask of a source, the mask as booleans of the same height and width."""
    if not isinstance(source, Masked):
        return read_image(source), None
    image, mask = read_image(source.image), gray_of(source.mask) > 0.5
    if mask.shape != image.shape[:2]:
        raise ValueError(
            f"expected a mask as large as the image, {image.shape[:2]}, got {mask.shape}."
        )
    return image, mask


def gray_of(source: ImageLike) -> NDArray:
    """`as_gray` of one path or array."""
    return as_gray(read_image(source))


def as_gray(image: NDArray) -> NDArray:
    """Luma as float64: 8 bits divided by 255, 16 bits by 65535, floating-point numbers as they are.

    Parameters
    ----------
    image : array (H, W) or (H, W, 3)
        As `read_image` returns it.

    Returns
    -------
    array (H, W) of float64
        In [0, 1] for integer pixels.
    """
    luma = image @ LUMA if image.ndim == 3 else image
    return np.asarray(luma, dtype=np.float64) / FULL_SCALE.get(image.dtype, 1.0)


def shrunk(image: NDArray, max_side: int | None) -> NDArray:
    """The floating-point image with its longer side at most `max_side`, pixels averaged."""
    longer = max(image.shape[:2])
    if max_side is None or longer <= max_side:
        return image
    cv2 = optional("cv2")
    height, width = (max(1, round(side * max_side / longer)) for side in image.shape[:2])
    return cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
