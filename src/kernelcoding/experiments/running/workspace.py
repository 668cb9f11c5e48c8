"""What the results of one split share, kept by the process that computes them."""

from __future__ import annotations

from numpy.typing import NDArray

from ...kernels import Kernel
from ..definition import Cell, Dataset, Experiment, Split
from .estimator_inputs import EstimatorInputs, inputs_for

KEPT_SPLITS = 2  # whose samples and statistics a process remembers


class SplitWorkspace:
    """The indices of one split, views of its samples, and pair statistics.

    Parameters
    ----------
    experiment : Experiment
    dataset : Dataset
    family : str
        A name in the experiment's splits.
    number : int
        Which split of the family.
    """

    def __init__(self, experiment: Experiment, dataset: Dataset, family: str, number: int):
        self.experiment, self.dataset = experiment, dataset
        self.split: Split = experiment.splits[family].make(dataset, number)
        self._views: dict[str, NDArray] = {}
        self._inputs: dict[tuple[str, str], EstimatorInputs] = {}

    def inputs(self, view: str, kernel: Kernel | tuple[Kernel, ...] | None) -> EstimatorInputs:
        """Training and test samples as a method wants them; made once."""
        if view not in self._views:
            self._views[view] = self.experiment.views[view](self.dataset, self.split)
        key = (view, repr(kernel))
        if key not in self._inputs:
            samples = self._views[view]
            train, test = samples[self.split.train], samples[self.split.test]
            self._inputs[key] = inputs_for(kernel, train, test)
        return self._inputs[key]


_workspaces: dict[tuple[str, str, int], SplitWorkspace] = {}  # by run, family and split


def workspace_of(run: str, experiment: Experiment, dataset: Dataset, cell: Cell) -> SplitWorkspace:
    """The workspace of a cell's split; a process keeps those it used last."""
    key = (run, cell.table.splits, cell.split)
    workspace = _workspaces.pop(key, None)
    if workspace is None:
        workspace = SplitWorkspace(experiment, dataset, cell.table.splits, cell.split)
    _workspaces[key] = workspace
    while len(_workspaces) > KEPT_SPLITS:
        del _workspaces[next(iter(_workspaces))]
    return workspace
