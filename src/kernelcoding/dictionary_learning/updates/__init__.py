"""Updates of the atoms: one table of names."""

from __future__ import annotations

from ...formulations import Formulation
from .alternating import AutoUpdate, ClosedFormUpdate, CoordinateUpdate
from .base import Update
from .gradient import GradientUpdate
from .ksvd import ApproximateKSVDUpdate, KSVDUpdate
from .points import PointsUpdate

UPDATES: dict[str, type[Update]] = {
    kind.name: kind
    for kind in (
        AutoUpdate,
        ClosedFormUpdate,
        CoordinateUpdate,
        KSVDUpdate,
        ApproximateKSVDUpdate,
        GradientUpdate,
        PointsUpdate,
    )
}


def named_update(name: str) -> type[Update]:
    """The update of a name; ValueError lists the names."""
    if name not in UPDATES:
        raise ValueError(f"update must be one of {tuple(UPDATES)}, got {name!r}.")
    return UPDATES[name]


def update_for(name: str, formulation: Formulation) -> Update:
    """The update that a name stands for, for one fit."""
    if name == AutoUpdate.name and formulation.follows_atoms:
        return GradientUpdate(formulation)
    return named_update(name)(formulation)


__all__ = ["UPDATES", "Update", "named_update", "update_for"]
