"""What a method is worth over its control: differences on the same splits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .schema import ResultRecord
from .summary import ResultGroup, summarize


@dataclass(frozen=True, slots=True)
class Gain:
    """Mean difference to the control over the splits that both have, and its standard error."""

    mean: float
    error: float | None  # needs two splits
    count: int


def gain_over(results: Iterable[ResultRecord], control: Iterable[ResultRecord]) -> Gain | None:
    """Paired differences; None where no split has both values.

    Parameters
    ----------
    results, control : iterable of ResultRecord
        Of one method, and of its control, at one number of atoms.
    """
    base = {result.split: result.value for result in control if result.value is not None}
    differences = [
        difference
        for result in results
        if result.value is not None and result.split in base
        if math.isfinite(difference := result.value - base[result.split])
    ]
    found = summarize(differences)
    if found.mean is None:
        return None
    error = None if found.spread is None else found.spread / math.sqrt(found.count)
    return Gain(found.mean, error, found.count)


def gains_of(groups: Sequence[ResultGroup]) -> list[Gain | None]:
    """For each row of a table its gain over its control; None for rows without one.

    Parameters
    ----------
    groups : sequence of ResultGroup
        The rows, among them the controls.
    """
    controls = {(group.control_of, group.size): group for group in groups if group.control_of}
    beside = [controls.get((group.method, group.size)) for group in groups]
    return [
        None if control is None else gain_over(group.results, control.results)
        for group, control in zip(groups, beside, strict=True)
    ]
