"""How an objective fell while something was learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .canvas import Display

# What can be drawn: the attribute, and what the axes say.
HISTORIES = {
    "objective": ("objective_history_", "half-step", "objective"),
    "kernel": ("kernel_history_", "accepted step", "objective / discrepancy"),
}
MARKERS = {"codes": "o", "atoms": "s", "classifier": "^"}
ROUNDS = (("atoms", "codes"), ("atoms", "codes", "classifier"))


class HistoryDisplay(Display):
    """A line through the objective after every half-step, markers say of which kind.

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

    def __init__(self, history, *, steps=None, x_label="half-step", y_label="objective"):
        self.history = history
        self.steps = steps
        self.x_label = x_label
        self.y_label = y_label

    @classmethod
    def from_estimator(cls, estimator, history="objective", *, ax=None):
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
    def from_history(cls, history, *, steps=None, ax=None):
        """Draw values that are at hand."""
        return cls(history, steps=steps).plot(ax=ax)

    def _check(self) -> None:
        count = len(self.history)
        if self.steps is not None and len(self.steps) != count:
            raise ValueError(
                f"steps must name each of the {count} values, got {len(self.steps)} names."
            )

    def _draw(self, ax) -> None:
        values = np.asarray(self.history, dtype=np.float64)
        (self.line_,) = ax.plot(values)
        self.markers_ = {}
        for name in dict.fromkeys(self.steps or ()):
            at = [index for index, step in enumerate(self.steps) if step == name]
            (self.markers_[name],) = ax.plot(
                at,
                values[at],
                linestyle="none",
                marker=MARKERS.get(name, "D"),
                color=self.line_.get_color(),
                fillstyle="full" if name == "codes" else "none",
                label=name,
            )
        if self.markers_:
            ax.legend(title="after")
        ax.set(xlabel=self.x_label, ylabel=self.y_label)


def half_steps(estimator: Any) -> list[str] | None:
    """Names of the half-steps: those that the estimator tells, or else those that must have been.

    Where nothing was told, their number leaves no doubt after one run that was not interrupted.
    """
    count, rounds = len(estimator.objective_history_), getattr(estimator, "n_iter_", 0)
    told = getattr(estimator, "objective_steps_", ())
    if len(told) == count:
        return [str(name) for name in told]
    if getattr(estimator, "status_", "") == "online":  # one value a batch
        return None
    supervised = hasattr(estimator, "joint_classifier_")
    one = ROUNDS[supervised]
    return ["codes", *one * rounds] if count == 1 + len(one) * rounds else None
