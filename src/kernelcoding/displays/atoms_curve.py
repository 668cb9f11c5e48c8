"""A metric against the number of atoms, as in the paper's figures."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import validation_curve

from ..records import ResultRecord, read_runs, summarize
from ..records.parsing import result_of
from ..records.reading import RecordPath
from ..records.schema import JSON
from ..records.summary import result_groups
from .canvas import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

CURVE_MARKERS = "os^vDP*X<>"
Records = RecordPath | Iterable[RecordPath] | Iterable[Mapping[str, JSON]]
Tables = dict[tuple[str, str], list[ResultRecord]]  # by experiment and table


class AtomsCurveDisplay(Display):
    """One line per method: means over splits with bands of one standard deviation.

    Best made by :meth:`from_estimator`, :meth:`from_records` or :meth:`from_arrays`.

    Parameters
    ----------
    sizes : sequence of n_sizes numbers
        Numbers of atoms.
    values : dict of arrays of shape (n_splits, n_sizes) by method
        The metric, in percent; NaN where there is none.
    paper : dict of sequences of n_sizes numbers by method, default=None
        The paper's numbers; NaN where there is none.
    metric : str, default="accuracy"
        What the axis says.

    Attributes
    ----------
    lines_, bands_, paper_ : dict by method
        What was drawn: means, bands, and hollow diamonds for the paper's numbers.
    ax_, figure_
        Axes and figure.

    Examples
    --------
    >>> from kernelcoding.displays import AtomsCurveDisplay
    >>> display = AtomsCurveDisplay.from_arrays([50, 100], {"kSC": [[40.0, 44.0], [42.0, 46.0]]})
    >>> [float(mean) for mean in display.lines_["kSC"].get_ydata()]
    [41.0, 45.0]
    """

    def __init__(
        self,
        sizes: Sequence[float],
        values: Mapping[str, ArrayLike],
        *,
        paper: Mapping[str, ArrayLike] | None = None,
        metric: str = "accuracy",
    ):
        self.sizes = sizes
        self.values = values
        self.paper = paper
        self.metric = metric

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sizes: Sequence[int],
        cv: int = 3,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> AtomsCurveDisplay:
        """Fit a classifier with several numbers of atoms, and draw its accuracy in folds.

        Parameters
        ----------
        estimator : classifier
            With a parameter ``n_atoms`` or ``atoms``, itself or a part of it (a pipeline).
        X, y : array-like
            Samples and labels.
        sizes : sequence of int
            Numbers of atoms.
        cv : int or splitter, default=3
            Folds.
        name : str, default=None
            What the line is called; None: the class of the estimator.
        ax : matplotlib Axes, default=None
            Where to draw.
        """
        parameter = _parameter_of_atoms(estimator)
        _, scores = validation_curve(
            estimator, X, y, param_name=parameter, param_range=list(sizes), cv=cv
        )
        return cls(sizes, {name or type(estimator).__name__: 100 * scores.T}).plot(ax=ax)

    @classmethod
    def from_records(
        cls,
        records: Records,
        *,
        experiment: str | None = None,
        table: str | None = None,
        metric: str = "accuracy",
        ax: Axes | None = None,
    ) -> AtomsCurveDisplay:
        """Draw what experiments have written.

        Parameters
        ----------
        records : path, several paths, or iterable of dict
            A folder or files of records, or their lines as objects.
        experiment : str, default=None
            Which experiment is drawn; None takes all, whose tables must then have different names.
        table : str, default=None
            Which table is drawn; None takes the only one that has several numbers of atoms.
        metric : str, default="accuracy"
            What the axis says.
        ax : matplotlib Axes, default=None
            Where to draw.
        """
        groups = result_groups(choose_table(results_of(records, experiment), table))
        sizes = sorted({group.size for group in groups if group.size is not None})
        values: dict[str, NDArray] = {}
        paper: dict[str, NDArray] = {}
        splits = max(len(group.results) for group in groups)
        for group in groups:
            column = sizes.index(group.size or 0)
            empty = np.full((splits, len(sizes)), np.nan)
            array = values.setdefault(group.method, empty)
            for row, result in enumerate(group.results):
                array[row, column] = np.nan if result.value is None else result.value
            numbers = paper.setdefault(group.method, np.full(len(sizes), np.nan))
            numbers[column] = np.nan if group.paper is None else group.paper
        return cls(sizes, values, paper=paper, metric=metric).plot(ax=ax)

    @classmethod
    def from_arrays(
        cls,
        sizes: Sequence[float],
        values: Mapping[str, ArrayLike],
        paper: Mapping[str, ArrayLike] | None = None,
        *,
        metric: str = "accuracy",
        ax: Axes | None = None,
    ) -> AtomsCurveDisplay:
        """Draw arrays: ``values[method]`` of shape (n_splits, n_sizes)."""
        return cls(sizes, values, paper=paper, metric=metric).plot(ax=ax)

    def _check(self) -> None:
        for method in self.values:
            self._table(method)

    def _draw(self, ax: Axes) -> None:
        self.lines_: dict[str, Line2D] = {}
        self.bands_: dict[str, PolyCollection] = {}
        self.paper_: dict[str, Line2D] = {}
        for index, method in enumerate(self.values):
            sizes, means, spreads = self._curve(method)
            marker = CURVE_MARKERS[index % len(CURVE_MARKERS)]
            (line,) = ax.plot(sizes, means, marker=marker, label=method)
            self.lines_[method] = line
            self.bands_[method] = ax.fill_between(
                sizes,
                means - spreads,
                means + spreads,
                color=line.get_color(),
                alpha=0.15,
                linewidth=0,
            )
            self._draw_paper(ax, method, line)
        ax.set(xlabel="atoms", ylabel=f"{self.metric}, %")
        ax.legend()

    def _table(self, method: str) -> NDArray:
        """Values of a method, (n_splits, n_sizes)."""
        table = np.atleast_2d(np.asarray(self.values[method], dtype=np.float64))
        if table.ndim != 2 or table.shape[1] != len(self.sizes):
            raise ValueError(
                f"values[{method!r}] must have shape (n_splits, {len(self.sizes)}), one column per "
                f"size, got {table.shape}."
            )
        return table

    def _curve(self, method: str) -> NDArray:
        """Sizes that have a value, their means and spreads."""
        columns = [summarize(c[~np.isnan(c)].tolist()) for c in self._table(method).T]
        points = [
            (size, column.mean, column.spread or 0.0)
            for size, column in zip(self.sizes, columns, strict=True)
            if column.mean is not None
        ]
        return np.array(points, dtype=np.float64).reshape(-1, 3).T

    def _draw_paper(self, ax: Axes, method: str, line: Line2D) -> None:
        numbers = np.asarray((self.paper or {}).get(method, ()), dtype=np.float64)
        if numbers.size == 0 or np.isnan(numbers).all():
            return
        present = ~np.isnan(numbers)
        (self.paper_[method],) = ax.plot(
            np.asarray(self.sizes)[present],
            numbers[present],
            linestyle="none",
            marker="D",
            markersize=9,
            fillstyle="none",
            color=line.get_color(),
            label=f"{method}, paper",
        )


def _parameter_of_atoms(estimator: BaseEstimator) -> str:
    """The parameter that says how many atoms there are; the outermost where several do."""
    names = [
        name for name in estimator.get_params() if name.split("__")[-1] in ("atoms", "n_atoms")
    ]
    if not names:
        raise ValueError(
            f"{type(estimator).__name__} has no parameter n_atoms or atoms, and no part that has."
        )
    return min(names, key=lambda name: (name.count("__"), name.endswith("__atoms")))


def results_of(records: Records, experiment: str | None) -> Tables:
    """Results that have a size, from files or from their lines, by experiment and table."""
    given = [records] if isinstance(records, str | os.PathLike) else list(records)
    lines = [line for line in given if isinstance(line, Mapping)]
    if lines:
        results = [
            result_of(line, f"record {index}")
            for index, line in enumerate(lines)
            if line.get("kind") == "result"
        ]
        pairs = [(result.experiment, result) for result in results]
    else:
        paths = [path for path in given if not isinstance(path, Mapping)]
        runs = read_runs(paths[0] if len(paths) == 1 else paths)
        pairs = [(e.name, result) for e in runs.experiments for result in e.results]
    found: Tables = {}
    for name, result in pairs:
        if result.size is not None and experiment in (None, name):
            found.setdefault((name, result.table), []).append(result)
    return found


def choose_table(found: Tables, table: str | None) -> list[ResultRecord]:
    """The results of the table asked for, or of the only one with a curve."""
    curves = {
        key: results
        for key, results in found.items()
        if len({result.size for result in results}) > 1 and table in (None, key[1])
    }
    if len(curves) == 1:
        return next(iter(curves.values()))
    have = [f"{name}: {title}" for name, title in curves] or "none"
    raise ValueError(
        f"Expected one table with several numbers of atoms, found {have}. "
        "Name the experiment and the table."
    )
