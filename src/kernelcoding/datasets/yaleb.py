"""Extended YaleB: faces of 38 people under 64 lights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .bunches import Fetched, Fields, choice_of, finish
from .files import list_classes, read_mat, read_npz, read_pgm
from .obtain import DataSource, PathLike

_MAT_NAMES = ("training_feats", "testing_feats", "H_train", "H_test")


def fetch_yaleb(
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    *,
    features: str = "images",
    return_X_y: bool = False,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Fetched:
    """Load the Extended YaleB faces: 2414 frontal images of 38 people (classification).

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the data sets, or of this one; see :func:`get_data_home`.
    download_if_missing : bool, default=True
        Whether the cropped images may be downloaded. The other two forms are put there by hand.
    features : {"images", "random_faces", "lcksvd"}, default="images"
        ``"images"`` reads the folder ``CroppedYale`` (192 x 168 pixels) or ``faces_48x42.npz``;
        ``"random_faces"`` reads ``random_faces_504.npz``, 504 random projections with a half
        split; ``"lcksvd"`` reads ``featurevectors.mat``, those of the LC-KSVD authors with theirs.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    n_retries : int, default=3
        How often a download without progress is tried again.
    delay : float, default=1.0
        Seconds between tries.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data`` (n, d) pixels (uint8) or features; ``target`` (n,); ``target_names``;
        ``images`` (n, height, width), for images only; ``files`` (n,) names of the original
        files, or None; ``train`` and ``test``, index arrays, or None where no split is given;
        ``DESCR``.

    Examples
    --------
    >>> from kernelcoding.datasets import fetch_yaleb
    >>> faces = fetch_yaleb(features="random_faces")  # doctest: +SKIP
    >>> faces.data.shape, faces.target.shape  # doctest: +SKIP
    ((2414, 504), (2414,))
    """
    read = choice_of(_READERS, "features", features)
    source = DataSource(data_home, download_if_missing, n_retries, delay)
    return finish(read(source.folder("yaleb", features)), "yaleb", return_X_y)


def _read_images(folder: Path) -> Fields:
    prepared = folder / "faces_48x42.npz"
    if any(folder.glob("yaleB[0-9][0-9]")):
        images, target, names, files = _read_cropped(folder)
    else:
        arrays = read_npz(prepared, ("X", "y", "subject", "files"))
        images, target, files = arrays["X"], arrays["y"], arrays["files"]
        names = [f"yaleB{number:02d}" for number in np.unique(arrays["subject"])]
    return {
        "data": images.reshape(len(images), -1),
        "images": images,
        "target": target,
        "target_names": names,
        "files": files,
    }


def _read_cropped(
    folder: Path,
) -> tuple[NDArray[np.uint8], NDArray[np.int64], list[str], NDArray[np.str_]]:
    names = [name for name in list_classes(folder) if name.startswith("yaleB")]
    # Ambient light is another size and no face under a light; .bad files are spoilt recordings.
    paths = [
        (label, path)
        for label, name in enumerate(names)
        for path in sorted((folder / name).glob("*.pgm"))
        if not path.stem.endswith("Ambient")
    ]
    if not paths:
        raise ValueError(f"Expected *.pgm files in {folder}/yaleB01 and its like, got none.")
    images = [read_pgm(path) for _, path in paths]
    for (_, path), image in zip(paths, images, strict=True):
        if image.shape != images[0].shape:
            raise ValueError(
                f"Expected images of one size: {paths[0][1]} is {images[0].shape}, {path} is "
                f"{image.shape}. Use the cropped images."
            )
    files = np.array([path.name for _, path in paths])
    target = np.array([label for label, _ in paths])
    return np.stack(images), target, names, files


def _read_random_faces(folder: Path) -> Fields:
    arrays = read_npz(folder / "random_faces_504.npz", ("F", "y", "train", "files"))
    train = arrays["train"].astype(bool)
    return {
        "data": arrays["F"],
        "target": arrays["y"],
        "target_names": sorted({str(name)[:7] for name in arrays["files"]}),
        "files": arrays["files"],
        "train": np.flatnonzero(train),
        "test": np.flatnonzero(~train),
    }


def _read_lcksvd(folder: Path) -> Fields:
    path = folder / "featurevectors.mat"
    arrays = read_mat(path, _MAT_NAMES)
    train, test, of_train, of_test = (arrays[name] for name in _MAT_NAMES)
    for features, indicators in ((train, of_train), (test, of_test)):
        if features.shape[1] != indicators.shape[1] or not (indicators.sum(axis=0) == 1).all():
            raise ValueError(
                f"Expected in {path} one column per sample and indicators with one 1 per column, "
                f"got features {features.shape} and indicators {indicators.shape}."
            )
    data = np.hstack([train, test]).T
    n_train = train.shape[1]
    return {
        "data": np.ascontiguousarray(data),
        "target": np.hstack([of_train, of_test]).argmax(axis=0),
        "target_names": [f"subject {number}" for number in range(1, len(of_train) + 1)],
        "train": np.arange(n_train),
        "test": np.arange(n_train, len(data)),
    }


_READERS = {"images": _read_images, "random_faces": _read_random_faces, "lcksvd": _read_lcksvd}
