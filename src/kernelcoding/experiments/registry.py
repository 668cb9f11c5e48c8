"""The experiments by name, and the function that runs one."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from .definition import Variants
from .paper import (
    digits,
    fashion_mnist,
    fisher_pyramids,
    fmd,
    fmd_colours,
    fmd_views,
    mit_indoor,
    mnist,
    pooled_words,
    scene15,
    virus,
    voc2007,
    voc2007_words,
    yaleb,
    yaleb_roots,
)
from .running.runner import Selection, run_experiment

REGISTRY: Mapping[str, Variants] = {
    "digits": digits.VARIANTS,
    "yaleb": yaleb.VARIANTS,
    "yaleb-roots": yaleb_roots.VARIANTS,
    "virus": virus.VARIANTS,
    "fmd": fmd.VARIANTS,
    "fmd-colours": fmd_colours.VARIANTS,
    "fmd-views": fmd_views.VARIANTS,
    "mit-indoor": mit_indoor.VARIANTS,
    "scene15": scene15.VARIANTS,
    "voc2007": voc2007.VARIANTS,
    "voc2007-words": voc2007_words.VARIANTS,
    "fashion-mnist": fashion_mnist.VARIANTS,
    "mnist": mnist.VARIANTS,
    "fmd-pyramids": fisher_pyramids.MATERIALS,
    "scene15-pyramids": fisher_pyramids.SCENES,
    "fmd-pooled": pooled_words.MATERIALS,
    "scene15-pooled": pooled_words.SCENES,
    "yaleb-pooled": pooled_words.FACES,
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
    scheduler: str | None = None,
) -> Path:
    """Run an experiment of the paper, or resume it.

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
        Whether to say on standard error how far the run is.
    scheduler : str, default=None
        Address of a Dask scheduler whose workers compute the results, instead of ``n_jobs``
        processes; they must see the data sets in the same folder. Records are written here.

    Returns
    -------
    path : Path
        The file of records, for ``kernelcoding.records.read_runs`` or the report.

    Raises
    ------
    ValueError
        If there is no such experiment, table, method, size or split, or the file of records belongs
        to another experiment, or to the quick version where this is the full one, or the reverse.
    FileNotFoundError
        If the data set is missing, with instructions.
    BlockingIOError
        If another run is writing the same file.

    Examples
    --------
    >>> from kernelcoding.experiments import REGISTRY
    >>> sorted(REGISTRY)[:3]
    ['digits', 'fashion-mnist', 'fmd']
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
        scheduler=scheduler,
    )
