"""What training refuses, and what it tells the user to do instead."""

from __future__ import annotations

from typing import Protocol

from ...coders.base import BaseKernelCoder
from ...dictionary_learning.updates.points import PointsUpdate
from ...formulations.adjoint import why_no_adjoint
from ...kernels import Kernel
from ..rules import BilinearRule, Rule
from .augmentation import Augment

JOINT, TASK_DRIVEN = "joint", "task-driven"
AUTO, POINTS = "auto", PointsUpdate.name


class Settings(Protocol):
    """Parameters that say how atoms are trained."""

    training: str
    update: str
    augment: Augment | None
    warm_start: bool


def check_training(settings: Settings, coder: BaseKernelCoder, kernel: Kernel, rule: Rule) -> None:
    """Refuse a training there is not, and what it cannot do."""
    training = settings.training
    if training not in (JOINT, TASK_DRIVEN):
        raise ValueError(f"training must be {JOINT!r} or {TASK_DRIVEN!r}, got {training!r}.")
    if training == TASK_DRIVEN:
        _check_coder(coder)
    _check_update(settings, coder, kernel, rule)
    _check_augment(settings, kernel)


def _check_coder(coder: BaseKernelCoder) -> None:
    why = why_no_adjoint(coder._outline())
    if why is not None:
        raise ValueError(
            f"training={TASK_DRIVEN!r} differentiates codes, and those of {type(coder).__name__} "
            f"with these parameters have no derivative here: {why}. Use KernelSparseCoder without "
            "groups, KernelLLC, KernelLCC, or KernelCoder with NoPrior, Ridge, L1, WeightedL1, "
            "ElasticNet, Locality or LocalCoordinate and the constraint Free, NonNegative, "
            f"SumToOne or Simplex; or training={JOINT!r}."
        )


def _check_update(settings: Settings, coder: BaseKernelCoder, kernel: Kernel, rule: Rule) -> None:
    if settings.update not in (AUTO, POINTS):
        raise ValueError(f"update must be {AUTO!r} or {POINTS!r}, got {settings.update!r}.")
    if settings.update == AUTO:
        return
    PointsUpdate.check(coder._outline(), kernel)
    if settings.training != TASK_DRIVEN:
        raise ValueError(
            f"update={POINTS!r} goes with training={TASK_DRIVEN!r}: joint training learns "
            f"combinations of samples. Use update={AUTO!r}."
        )
    if isinstance(rule, BilinearRule):
        raise ValueError(
            f"A bilinear classifier looks at similarities to landmarks, and with update={POINTS!r} "
            "there are none. Use the classifier 'linear', 'max-margin' or 'logistic', or "
            f"update={AUTO!r}."
        )
    if settings.warm_start:
        raise ValueError(
            f"warm_start=True starts from combinations of samples, not from points. Use "
            f"warm_start=False, or update={AUTO!r}."
        )


def _check_augment(settings: Settings, kernel: Kernel) -> None:
    if settings.augment is None:
        return
    if not callable(settings.augment):
        raise ValueError(
            "augment must be a function of a batch of samples and a random state, or None, got "
            f"{settings.augment!r}."
        )
    if settings.training != TASK_DRIVEN:
        raise ValueError(
            f"augment goes with training={TASK_DRIVEN!r}, whose epochs draw samples anew; joint "
            "training keeps a code for each sample. Use augment=None, or add samples to X."
        )
    if kernel.uses_index:
        raise ValueError(
            "augment makes samples, and a precomputed kernel knows those of its matrix only. Use "
            "a kernel of samples, or augment=None."
        )
