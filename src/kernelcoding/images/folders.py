"""Folders of pictures whose sub-folders are classes."""

from __future__ import annotations

import os
from pathlib import Path

from sklearn.utils import Bunch

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
PICTURES, MASKS = ("image", "images"), ("mask", "masks")


def load_folder(path: str | os.PathLike[str], masks: str | os.PathLike[str] | None = None) -> Bunch:
    """Find the pictures of a folder; its sub-folders are classes.

    Parameters
    ----------
    path : path-like
        A folder with one sub-folder per class. If it holds ``image`` (or ``images``) and ``mask``
        (or ``masks``), those are the pictures and their masks.
    masks : path-like, default=None
        A folder with the same sub-folders and names of files (endings may differ), of which bright
        pixels say what counts.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``files``, a list of n paths; ``labels``, a list of n names of classes; ``classes``, the
        names in order; ``masks``, a list of n paths or None.

    Raises
    ------
    ValueError
        If there are no sub-folders with pictures, or a picture has no mask.

    Examples
    --------
    >>> from kernelcoding.images import load_folder
    >>> photographs = load_folder("photographs")  # doctest: +SKIP
    >>> len(photographs.files), photographs.classes  # doctest: +SKIP
    (1000, ['fabric', 'foliage', 'glass'])
    """
    root = Path(path)
    if not root.is_dir():
        raise ValueError(f"{root} is no folder.")
    root, beside = pictures_and_masks(root)
    given = beside if masks is None else Path(masks)
    classes = sorted(
        part.name
        for part in root.iterdir()
        if part.is_dir() and not part.name.startswith(".") and pictures_in(part)
    )
    if not classes:
        raise ValueError(
            f"{root} has no sub-folders with pictures ({', '.join(ENDINGS)}): put the pictures of "
            "each class into a folder with its name."
        )
    files = {name: pictures_in(root / name) for name in classes}
    labels = [name for name in classes for _ in files[name]]
    paths = [str(file) for name in classes for file in files[name]]
    found = None if given is None else [mask_of(Path(file), root, given) for file in paths]
    return Bunch(files=paths, labels=labels, classes=classes, masks=found)


def pictures_and_masks(folder: Path) -> tuple[Path, Path | None]:
    """Where the pictures of a folder are, and where their masks, if it holds both.

    Parameters
    ----------
    folder : Path
    """
    inside = next((folder / name for name in PICTURES if (folder / name).is_dir()), None)
    if inside is None:
        return folder, None
    return inside, next((folder / name for name in MASKS if (folder / name).is_dir()), None)


def pictures_in(folder: Path) -> list[Path]:
    """The pictures in a folder and in its sub-folders, in order of their names.

    Parameters
    ----------
    folder : Path
    """
    return sorted(
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in ENDINGS and not file.name.startswith(".")
    )


def mask_of(file: Path, root: Path, masks: Path) -> str:
    """The mask of a picture: the same place below another folder, whatever its ending.

    Parameters
    ----------
    file : Path
    root, masks : Path
        Folders of pictures and of masks.
    """
    place = masks / file.relative_to(root)
    if place.exists():
        return str(place)
    other = next((place.with_suffix(e) for e in ENDINGS if place.with_suffix(e).exists()), None)
    if other is None:
        raise ValueError(f"{file} has no mask {place}.")
    return str(other)
