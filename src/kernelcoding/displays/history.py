"""How an objective fell while a dictionary, a classifier or a kernel was learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .canvas import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What can be drawn: the attribute, and what the axes say.
HISTORIES = {
    "objective": ("objective_history_", "half-step", "objective"),
    "kernel": ("kernel_history_", "accepted step", "objective / discrepancy"),
}
STEP_MARKERS = {"codes": "o", "atoms": "s", "classifier": "^", "kernel": "D"}
ROUNDS = (("atoms", "codes"), ("atoms", "codes", "classifier"))


class HistoryDisplay(Display):
    """The objective after every half-step as a line; markers tell the kinds of half-steps.

    Best made by :meth:`from_estimator` or :meth:`from_history`.

    Parameters
    ----------
    history : array of shape (n_steps,)
        Values.
    steps : sequence of n_steps strings, default=None
        Names of the half-steps: each name gets a marker.
    x_label, y_label : str
        What the axes say.

    Attributes
    ----------
    line_ : matplotlib Line2D
    markers_ : dict of matplotlib Line2D by name of half-step
    ax_, figure_
        Axes and figure.

    Examples
    --------
    >>> from kernelcoding.displays import HistoryDisplay
    >>> display = HistoryDisplay.from_history([3.0, 2.0, 1.5], steps=["codes", "atoms", "codes"])
    >>> [float(value) for value in display.markers_["codes"].get_ydata()]
    [3.0, 1.5]
    """

    def __init__(
        self,
        history: Sequence[float],
        *,
        steps: Sequence[str] | None = None,
        x_label: str = "half-step",
        y_label: str = "objective",
    ):
        self.history = history
        self.steps = steps
        self.x_label = x_label
        self.y_label = y_label

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, history: str = "objective", *, ax: Axes | None = None
    ) -> HistoryDisplay:
        """Draw how learning went.

        Parameters
        ----------
        estimator : fitted dictionary learning, supervised coding, or coder with learned kernel
            Has ``objective_history_`` or ``kernel_history_``; with ``objective_steps_``, names of
            the half-steps, these are marked. Without, they are where one run leaves no doubt.
        history : {"objective", "kernel"}, default="objective"
            Which one is drawn.
        ax : matplotlib Axes, default=None
            Where to draw.
        """
        if history not in HISTORIES:
            raise ValueError(f"history must be one of {sorted(HISTORIES)}, got {history!r}.")
        check_is_fitted(estimator)
        attribute, x_label, y_label = HISTORIES[history]
        values = getattr(estimator, attribute, ())
        if len(values) == 0:
            raise ValueError(
                f"{type(estimator).__name__} has no {attribute}: nothing of the kind was learned. "
                "Fit an estimator that learns (for a kernel: with learn_kernel=True)."
            )
        steps = half_steps(estimator) if history == "objective" else None
        return cls(values, steps=steps, x_label=x_label, y_label=y_label).plot(ax=ax)

    @classmethod
    def from_history(
        cls,
        history: Sequence[float],
        *,
        steps: Sequence[str] | None = None,
        ax: Axes | None = None,
    ) -> HistoryDisplay:
        """Draw values that are at hand."""
        return cls(history, steps=steps).plot(ax=ax)

    def _check(self) -> None:
        count = len(self.history)
        if self.steps is not None and len(self.steps) != count:
            raise ValueError(
                f"steps must name each of the {count} values, got {len(self.steps)} names."
            )

    def _draw(self, ax: Axes) -> None:
        values = np.asarray(self.history, dtype=np.float64)
        (self.line_,) = ax.plot(values)
        self.markers_ = {}
        steps = self.steps or ()
        for name in dict.fromkeys(steps):
            at = [index for index, step in enumerate(steps) if step == name]
            (self.markers_[name],) = ax.plot(
                at,
                values[at],
                linestyle="none",
                marker=STEP_MARKERS.get(name, "D"),
                color=self.line_.get_color(),
                fillstyle="full" if name == "codes" else "none",
                label=name,
            )
        if self.markers_:
            ax.legend(title="after")
        ax.set(xlabel=self.x_label, ylabel=self.y_label)


def half_steps(estimator: BaseEstimator) -> list[str] | None:
    """Names of the half-steps: those that the estimator gives, or else those that must have been.

    Where it gives none, their number leaves no doubt after one run that was not interrupted.
    """
    count, rounds = len(estimator.objective_history_), getattr(estimator, "n_iter_", 0)
    given = getattr(estimator, "objective_steps_", ())
    if len(given) == count:
        return [str(name) for name in given]
    if getattr(estimator, "status_", "") == "online":  # one value per batch
        return None
    supervised = hasattr(estimator, "joint_classifier_")
    one = ROUNDS[supervised]
    return ["codes", *one * rounds] if count == 1 + len(one) * rounds else None
