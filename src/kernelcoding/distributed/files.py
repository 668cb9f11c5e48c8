"""Codes as files: one per chunk and a small index, written where they are computed."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph
from numpy.typing import NDArray
from scipy import sparse

from .errors import translated
from .inputs import delayed_of
from .mapping import array_of
from .methods import RowAnswer
from .shared import Shared

__all__ = ["load", "save"]

INDEX = "index.json"
FORMAT = "kernelcoding chunks 1"


@dataclass(frozen=True)
class Index:
    """What a folder of chunks holds.

    Parameters
    ----------
    row_shape, dtype, is_csr
        Of a row, as in :class:`RowAnswer`.
    n_chunks : int
    lengths : list of int or None
        Rows of each chunk; None until all are written, where they were unknown.
    models : list of str
        What the chunks were computed with: a change of the estimator changes these names.
    """

    row_shape: list[int]
    dtype: str
    is_csr: bool
    n_chunks: int
    lengths: list[int] | None
    models: list[str]

    def file(self, number: int) -> str:
        """Name of the file of a chunk."""
        return f"chunk-{number:06d}.{'npz' if self.is_csr else 'npy'}"

    @property
    def row(self) -> RowAnswer:
        """What one row is."""
        return RowAnswer(tuple(self.row_shape), np.dtype(self.dtype), self.is_csr)

    def written(self, folder: Path) -> set[int]:
        """Chunks whose files are there: files appear whole, or not at all."""
        there = set(os.listdir(folder))
        return {number for number in range(self.n_chunks) if self.file(number) in there}


def save(codes: da.Array, folder: str | os.PathLike[str]) -> None:
    """Compute codes and write them, one file per chunk; finished chunks are kept.

    Files are written by the tasks that compute them, so nothing passes through this process, and
    all workers must see the folder. Run again after an interruption, only chunks without a file
    are computed: the samples must be those of the first call.

    Parameters
    ----------
    codes : Dask array of shape (n, ...)
        In chunks of whole rows, as lazy methods give them; dense or CSR.
    folder : path
        Made where it does not exist. One that holds chunks of something else is refused.

    See Also
    --------
    load : The same codes again, lazily.

    Examples
    --------
    >>> import tempfile
    >>> import dask.array as da
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(da.ones((6, 2), chunks=(4, 2)), folder)
    ...     load(folder).sum().compute()
    np.float64(12.0)
    """
    place = Path(folder).absolute()
    index = _index_of(codes)
    place.mkdir(parents=True, exist_ok=True)
    index = _continued(index, place)
    missing = sorted(set(range(index.n_chunks)) - index.written(place))
    blocks = delayed_of(codes)
    write = dask.delayed(_write, pure=False)
    tasks = [write(blocks[number], str(place), index.file(number)) for number in missing]
    with translated():
        lengths = dict(zip(missing, dask.compute(*tasks), strict=True))
    lost = [index.file(number) for number in missing if not (place / index.file(number)).exists()]
    if lost:
        raise OSError(
            f"{len(lost)} of {index.n_chunks} chunks were computed but are not in {place}, "
            f"{lost[0]} among them: choose a folder that all workers and this process see."
        )
    if index.lengths is None:
        counted = [
            lengths[number] if number in lengths else len_of(_read(str(place), index.file(number)))
            for number in range(index.n_chunks)
        ]
        _put(place / INDEX, _text({**asdict(index), "lengths": counted}))


def load(folder: str | os.PathLike[str]) -> da.Array:
    """Codes that :func:`save` wrote, lazily: a chunk is read when it is needed.

    Parameters
    ----------
    folder : path
        Seen by all workers.

    Returns
    -------
    codes : Dask array
        In the chunks in which they were saved, dense or CSR.

    Examples
    --------
    >>> import tempfile
    >>> import dask.array as da
    >>> from kernelcoding.distributed import load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save(da.ones((4, 3), chunks=(2, -1)), f"{folder}/codes")
    ...     load(f"{folder}/codes").chunks
    ((2, 2), (3,))
    """
    place = Path(folder).absolute()
    index = _read_index(place)
    missing = index.n_chunks - len(index.written(place))
    if missing or index.lengths is None:
        raise ValueError(
            f"{missing} of {index.n_chunks} chunks are missing in {place}: save was interrupted. "
            "Run it again; it keeps what is there."
        )
    changed = (place / INDEX).stat().st_mtime_ns
    key = f"kernelcoding-load-{dask.base.tokenize(str(place), changed)}"
    rest = (0,) * len(index.row.shape)
    layer: dict[Any, tuple[Any, ...]] = {
        (key, number, *rest): (_read, str(place), index.file(number))
        for number in range(index.n_chunks)
    }
    graph = HighLevelGraph.from_collections(key, layer)
    return array_of(graph, key, index.lengths, index.row)


def _index_of(codes: da.Array) -> Index:
    if not isinstance(codes, da.Array) or any(count != 1 for count in codes.numblocks[1:]):
        raise ValueError(
            "codes must be a Dask array in chunks of whole rows, as transform of Dask samples "
            f"gives them, got {codes!r}."
        )
    if codes.dtype.hasobject:
        raise ValueError(
            "Arrays of Python objects are not saved: use labels that are numbers or strings "
            "(y.astype(str)) when you fit the classifier."
        )
    lengths = codes.chunks[0]
    known = None if any(np.isnan(n) for n in lengths) else [int(n) for n in lengths]
    is_csr = sparse.issparse(codes._meta)
    return Index(
        [int(size) for size in codes.shape[1:]],
        codes.dtype.str,
        is_csr,
        codes.numblocks[0],
        known,
        sorted(_models(codes)),
    )


def _models(codes: da.Array) -> Iterator[str]:
    """Names of the estimators in a graph; they are made of what the estimators hold."""
    for key in codes.__dask_graph__():
        if isinstance(key, str) and key.startswith(f"{Shared.__name__}-"):
            yield key


def _continued(index: Index, place: Path) -> Index:
    """The index that holds: a new one is written, another one must be of the same codes."""
    if not (place / INDEX).exists():
        if any(place.glob("chunk-*")):
            raise ValueError(f"{place} holds chunks without an index: choose another folder.")
        _put(place / INDEX, _text(asdict(index)))
        return index
    there = _read_index(place)
    for name, value in asdict(index).items():
        other = getattr(there, name)
        if value != other and not (name == "lengths" and None in (value, other)):
            raise ValueError(
                f"{place} holds chunks of something else ({name} is {_short(other)} there, "
                f"{_short(value)} here): choose another folder, or delete this one."
            )
    return there


def _short(value: object) -> str:
    told = repr(value)
    return told if len(told) <= 60 else told[:57] + "..."


def _read_index(place: Path) -> Index:
    try:
        found = json.loads((place / INDEX).read_text())
        if found.pop("format") != FORMAT:
            raise KeyError
        return Index(**found)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{place} has no {INDEX}: it is no folder that kernelcoding.distributed.save wrote."
        ) from None
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{place / INDEX} is no index of chunks, or one of a later version of kernelcoding."
        ) from error


def _text(index: dict[str, Any]) -> bytes:
    return (json.dumps({"format": FORMAT, **index}, indent=1) + "\n").encode()


def len_of(chunk: NDArray | sparse.csr_array) -> int:
    """Rows of a chunk."""
    return int(chunk.shape[0])


def _write(chunk: NDArray | sparse.csr_array, folder: str, file: str) -> int:
    """Write a chunk where it was computed; its rows."""
    temporary = Path(folder) / f"writing-{uuid.uuid4().hex}"
    try:
        with open(temporary, "wb") as stream:
            if sparse.issparse(chunk):
                sparse.save_npz(stream, chunk, compressed=False)
            else:
                np.save(stream, chunk, allow_pickle=False)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, Path(folder) / file)
    finally:
        temporary.unlink(missing_ok=True)
    return len_of(chunk)


def _put(path: Path, content: bytes) -> None:
    """Write a small file whole, or not at all."""
    temporary = path.with_name(f"writing-{uuid.uuid4().hex}")
    temporary.write_bytes(content)
    os.replace(temporary, path)


def _read(folder: str, file: str) -> NDArray | sparse.csr_array:
    path = Path(folder) / file
    if path.suffix == ".npz":
        return sparse.csr_array(sparse.load_npz(path))
    return np.load(path, allow_pickle=False)
