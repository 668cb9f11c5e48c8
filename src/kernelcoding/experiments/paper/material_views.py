"""Several descriptions of every photograph of a material, each with a kernel of its own.

Not the paper's descriptors: the same splits and methods as in fmd, with what else there is to see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from ...datasets import fetch_fmd
from ...kernels import Gaussian, Kernel, View
from ..definition import Dataset, Experiment, Method, Request, Split, Table
from ..rows.several_kernels import kernels_collaborative_row, kernels_pair_row, kernels_svm_row
from .fmd import BEST, PAIR_ATOMS, every_photograph, fmd_experiment, several_kernels, views_curve
from .fmd_scale import FmdScale

if TYPE_CHECKING:
    from ...images import Masked
WIDTH = "0.3*median"
TOGETHER = "together"  # the view in which all descriptions stand side by side
Describe = Callable[[Request, Sequence["Masked"], Sequence[str]], NDArray]


@dataclass(frozen=True, slots=True)
class Description:
    """A descriptor of photographs."""

    length: int  # numbers in it
    describe: Describe  # of the request, the masked photographs, and the files they are from


@dataclass(frozen=True, slots=True)
class MaterialViews:
    """Several descriptions of every photograph."""

    parts: tuple[NDArray, ...]  # (n, length) each

    def __len__(self) -> int:
        return len(self.parts[0])


def material_views(descriptions: Sequence[Description], request: Request) -> Dataset:
    """Descriptions of what is inside the masks."""
    from ...images import Masked

    found: Bunch = fetch_fmd(request.data_home, request.download)
    images = [Masked(*pair) for pair in zip(found.data, found.masks, strict=True)]
    paths = [*found.data, *found.masks]
    parts = tuple(one.describe(request, images, paths) for one in descriptions)
    return Dataset(
        MaterialViews(parts), found.target, tuple(found.target_names), pictures=found.data
    )


def one_of(number: int, dataset: Dataset, split: Split) -> NDArray:
    """One description."""
    part: NDArray = dataset.samples.parts[number]
    return part


def side_by_side(dataset: Dataset, split: Split) -> NDArray:
    """All descriptions, as columns of one array."""
    return np.hstack(dataset.samples.parts)


def kernel_of_each(descriptions: Sequence[Description]) -> tuple[Kernel, ...]:
    """Gaussian kernels of the descriptions, as they stand side by side."""
    borders = np.cumsum([0, *(one.length for one in descriptions[:-1])]).tolist()
    slices = [slice(*pair) for pair in pairwise([*borders, None])]
    return tuple(View(columns, Gaussian(WIDTH)) for columns in slices)


@dataclass(frozen=True, slots=True)
class Combination:
    """Descriptions that go together, and the shares of their kernels to choose from."""

    numbers: tuple[int, ...]
    weights: tuple[str | tuple[float, ...], ...] = ("equal", "alignment")

    def rows(self, scale: FmdScale, kernels: Sequence[Kernel]) -> tuple[Method, ...]:
        """Sparse and local codes, and machines beside."""
        own = tuple(kernels[number] for number in self.numbers)
        given = tuple(one for one in self.weights if not isinstance(one, str))
        spaces = dict(scale.spaces)
        for name in ("kSC, four", "kLLC, four"):
            spaces[name] = {**spaces[name], "weights": self.weights}
        machine = {**spaces["SVC, views"], **({"weights": given} if given else {})}
        return (
            *several_kernels(replace(scale, spaces=spaces), own, TOGETHER),
            kernels_svm_row("SVC", own, machine, TOGETHER),
            kernels_collaborative_row(own, view=TOGETHER),
            kernels_pair_row(own, PAIR_ATOMS, view=TOGETHER),
        )


def views_experiment(
    experiment: Experiment,
    scale: FmdScale,
    descriptions: Sequence[Description],
    alone: Mapping[str, int],
    combinations: Mapping[str, Combination],
) -> Experiment:
    """An experiment with some of the descriptions alone, and with several together.

    Parameters
    ----------
    experiment : Experiment
        Its name, title and protocol; the rest is as in fmd.
    scale : FmdScale
    descriptions : sequence of Description
    alone : mapping
        Numbers of descriptions that have a table of their own, by its name.
    combinations : mapping
        By the names of their tables; atoms are learned with the last one, which has all.
    """
    kernels, size = kernel_of_each(descriptions), scale.view_sizes[-1]
    tables = [Table(name, one.rows(scale, kernels)) for name, one in combinations.items()]
    return replace(
        experiment,
        load=partial(material_views, descriptions),
        tables=(
            *(Table(name, every_photograph(scale, name)) for name in alone),
            *tables,
            Table(
                f"{tables[-1].name}, learned atoms",
                views_curve(scale, kernels, TOGETHER),
                "curve",
                sizes=(size,),
                paper={("bi-SkSC", size): BEST},
                anchors=tables[-1].methods[-3:-1],
            ),
        ),
        views={
            **{name: partial(one_of, number) for name, number in alone.items()},
            TOGETHER: side_by_side,
        },
    )


def named(scale: FmdScale, quick: bool, name: str, title: str, protocol: str) -> Experiment:
    """The experiment fmd under another name.

    Parameters
    ----------
    scale : FmdScale
    quick : bool
        Whether the records call it the quick version.
    name, title, protocol : str
    """
    return replace(
        fmd_experiment(scale, quick), name=name, title=title, protocol=protocol + scale.note
    )
