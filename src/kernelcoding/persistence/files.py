"""Model files on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import sklearn
from sklearn.base import BaseEstimator

from .._version import __version__
from . import scikit_learn
from .archive import ModelArchive
from .errors import DAMAGED, ModelFileError
from .history import FORMAT
from .parts import part_of, remove_dead_parts
from .reading import Reader, arrays_named_in
from .registry import PACKAGE
from .writing import Writer

ABOUT = "about"
JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
PEER = "scikit-learn"  # whose version is in the files that hold objects of it


def save(
    model: BaseEstimator, path: str | os.PathLike, *, about: Mapping[str, JSON] | None = None
) -> None:
    """Write an estimator or a pipeline to a file, all of it or nothing.

    Parameters
    ----------
    model : estimator of this package, or of scikit-learn with such estimators inside
        Fitted or not. It must not hold functions, random generators or objects of other packages:
        a file of data cannot hold them. Of scikit-learn these may be inside: ``Pipeline``,
        ``FeatureUnion``, ``ColumnTransformer``, ``StandardScaler``, ``MinMaxScaler``,
        ``Normalizer``, ``PCA``, ``SimpleImputer`` (with its ``MissingIndicator``),
        ``OneHotEncoder``, ``OrdinalEncoder``, ``LabelEncoder``, ``LabelBinarizer``,
        ``FunctionTransformer`` without functions, ``LinearSVC``, ``SVC``,
        ``LogisticRegression``, ``Ridge``, ``RidgeClassifier``, ``KNeighborsClassifier`` and
        ``OneVsRestClassifier``.
    path : path-like
        An old file of that name is replaced when the new one is complete. What a killed process
        has left of a save under that name is removed.
    about : mapping, default=None
        Numbers and words that go with the model, such as what data it was fitted to; see
        :func:`kernelcoding.persistence.about`. The model does not depend on them.

    Raises
    ------
    ValueError
        If the model holds what a file cannot; the message says what and where.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernelcoding as kc
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> model = make_pipeline(StandardScaler(), kc.KernelSparseCoder()).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kc.save(model, Path(folder) / "model.kc")
    ...     again = kc.load(Path(folder) / "model.kc")
    >>> np.array_equal(again.transform(X), model.transform(X))
    True
    """
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"Expected an estimator of {PACKAGE}, got a {type(model).__qualname__}.")
    writer = Writer()
    content: dict[str, Any] = {"format": FORMAT, "version": __version__}
    content["model"] = writer.describe(model, "model")
    if any(name in scikit_learn.LOCATIONS for name in writer.names):
        content[PEER] = sklearn.__version__
    if about is not None:
        content[ABOUT] = dict(about)
    arrays: dict[str, Any] = {**writer.arrays, "description": np.array(json.dumps(content))}
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to save the model in.")
    remove_dead_parts(path)
    part = part_of(path)
    try:
        with part.open("xb") as file:
            np.savez_compressed(file, **arrays)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def load(path: str | os.PathLike, *, max_bytes: int | None = None) -> BaseEstimator:
    """Read a model from a file.

    Parameters
    ----------
    path : path-like
        A file written by :func:`save`, of whatever origin.
    max_bytes : int, default=None
        What the file may expand to. ``None`` is 1 GiB or 100 times the size of the file, whichever
        is more, and at most half of the free memory: enough for all but very large models that
        consist of zeros, nearly, and too little for files that were made to fill the memory.

    Returns
    -------
    model : estimator
        As it was saved.

    Warns
    -----
    UserWarning
        If the model holds objects of scikit-learn and was saved with another minor version of it.

    Raises
    ------
    ModelFileError
        If the file is anything else, is damaged, names what models are not made of, or would
        expand to more than it may.

    Examples
    --------
    >>> import tempfile
    >>> import kernelcoding as kc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kc.save(kc.KernelSparseCoder(alpha=0.1), f"{folder}/model.kc")
    ...     kc.load(f"{folder}/model.kc")
    KernelSparseCoder(alpha=0.1)
    """
    if max_bytes is not None and (not isinstance(max_bytes, Integral) or max_bytes < 1):
        raise ValueError(f"Expected a number of bytes or None as max_bytes, got {max_bytes!r}.")
    with _opened(path) as file:
        model, written_with = _read(file, max_bytes)
    if written_with is not None:
        scikit_learn.warn_of_versions(written_with, stacklevel=2)
    return model


def about(path: str | os.PathLike) -> dict[str, JSON]:
    """What a model file says of itself, without its model.

    Parameters
    ----------
    path : path-like
        A file written by :func:`kernelcoding.save`, of whatever origin.

    Returns
    -------
    about : dict
        What :func:`kernelcoding.save` was given as ``about``, and ``"format"``, ``"version"`` and
        ``"scikit-learn"`` as the file has them.

    Examples
    --------
    >>> import tempfile
    >>> import kernelcoding as kc
    >>> from kernelcoding.persistence import about
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kc.save(kc.KernelSparseCoder(), f"{folder}/model.kc", about={"of": "digits"})
    ...     about(f"{folder}/model.kc")["of"]
    'digits'
    """
    with _opened(path) as file:
        content = json.loads(ModelArchive(file).description())
        given = content.get(ABOUT, {})
        if not isinstance(given, dict):
            raise ModelFileError(DAMAGED)
        known = {name: content[name] for name in ("format", "version", PEER) if name in content}
        return {**given, **known}


@contextmanager
def _opened(path: str | os.PathLike) -> Iterator[IO[bytes]]:
    """A model file; whatever goes wrong with it is said with its name."""
    with open(path, "rb") as file:
        try:
            yield file
        except ModelFileError as error:
            raise ModelFileError(f"{path}: {error}") from error
        except MemoryError as error:
            raise MemoryError(f"{path} holds a model that does not fit in the memory.") from error
        except Exception as error:  # what is not ours fails in more ways than can be listed
            raise ModelFileError(f"{path} is not a model file of {PACKAGE}.") from error


def _read(file: IO[bytes], max_bytes: int | None) -> tuple[BaseEstimator, str | None]:
    """The model, and the version of scikit-learn if objects of that are inside."""
    archive = ModelArchive(file, None if max_bytes is None else int(max_bytes))
    content = json.loads(archive.description())
    written_as, tree = content["format"], content["model"]
    if type(written_as) is not int or not 1 <= written_as <= FORMAT:
        raise ModelFileError(
            f"the file has format {written_as}, written by {PACKAGE} {content.get('version')}; "
            f"this version reads formats 1 to {FORMAT}."
        )
    archive.expect(arrays_named_in(tree))
    reader = Reader(archive, written_as)
    model = reader.rebuild(tree)
    reader.complete()
    written_with = content.get(PEER) if reader.foreign else None
    if not isinstance(model, BaseEstimator):
        raise ModelFileError(DAMAGED)
    if reader.foreign and not isinstance(written_with, str):
        raise ModelFileError(DAMAGED)
    return model, written_with
