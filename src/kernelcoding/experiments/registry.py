"""The experiments by name, and the function that runs one."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from . import digits, fmd, photographs, virus, yaleb
from .definition import Variants
from .runner import Selection, run_experiment

REGISTRY: Mapping[str, Variants] = {
    "digits": digits.VARIANTS,
    "yaleb": yaleb.VARIANTS,
    "virus": virus.VARIANTS,
    "fmd": fmd.VARIANTS,
    "mit-indoor": photographs.INDOOR_VARIANTS,
    "scene15": photographs.SCENE15_VARIANTS,
    "voc2007": photographs.VOC_VARIANTS,
}


def run(
    name: str,
    data_home: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] = "runs",
    quick: bool = False,
    n_jobs: int | None = None,
    *,
    tables: Collection[str] | None = None,
    methods: Collection[str] | None = None,
    sizes: Collection[int | None] | None = None,
    splits: Collection[int] | None = None,
    download: bool = True,
    progress: bool = True,
) -> Path:
    """Run an experiment of the paper, or go on with it.

    Parameters
    ----------
    name : str
        One of ``REGISTRY``; underscores count as hyphens.
    data_home : str or path-like, default=None
        Folder of the data sets, or of the one that is needed; see
        :func:`kernelcoding.datasets.get_data_home`.
    out : str or path-like, default="runs"
        Folder of the records. Results that are in ``<out>/<name>.jsonl`` are not computed again.
    quick : bool, default=False
        Whether to run the small version. Its records do not mix with those of the full one.
    n_jobs : int, default=None
        Processes, each with one thread; None is one, -1 all cores.
    tables, methods, sizes, splits : collections, default=None
        Parts to run; None is everything.
    download : bool, default=True
        Whether a data set that is missing may be downloaded.
    progress : bool, default=True
        Whether to tell on standard error how far the run is.

    Returns
    -------
    path : Path
        The file of records, for :func:`summarize` or the report.

    Raises
    ------
    ValueError
        If there is no such experiment, table, method, size or split, or the file of records belongs
        to another experiment or to the version of other size.
    FileNotFoundError
        If the data set is missing, with instructions.
    BlockingIOError
        If another run is writing the same file.

    Examples
    --------
    >>> from kernelcoding.experiments import REGISTRY
    >>> sorted(REGISTRY)
    ['digits', 'fmd', 'mit-indoor', 'scene15', 'virus', 'voc2007', 'yaleb']
    """
    variants = REGISTRY.get(name.replace("_", "-"))  # data sets are named with underscores
    if variants is None:
        raise ValueError(f"There is no experiment {name!r}; there are {', '.join(REGISTRY)}.")
    return run_experiment(
        variants.quick if quick else variants.full,
        data_home,
        out,
        n_jobs,
        selection=Selection(tables, methods, sizes, splits),
        download=download,
        progress=progress,
    )
