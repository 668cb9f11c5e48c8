"""Rows of methods that a reader will want beside ours, on the same samples and splits."""

from __future__ import annotations

from functools import partial

from ...classification import KernelDictionaryPairLearning
from ...kernels import Kernel, Linear
from ..definition import Method, Settings, Space
from ..running.classifiers import Collaborative

RIDGES: Space = {"alpha": (1e-4, 1e-3, 1e-2, 1e-1)}
PAIRS: Space = {"separation": (1e-3, 1e-2), "regularization": (1e-4,)}


def collaborative_row(
    name: str, kernel: Kernel, space: Space = RIDGES, view: str = "samples"
) -> Method:
    """Ridge codes over every training sample, residuals over the norms of codes (CRC).

    Parameters
    ----------
    name : str
        Of the row.
    kernel : Kernel
        Linear is the published method.
    space : mapping
        With alpha, and the width of a kernel that has one.
    view : str
        Which samples.
    """
    return Method(name, collaborative, space, kernel, view)


def pair_row(
    name: str,
    kernel: Kernel,
    space: Space,
    n_atoms: int | None = None,
    view: str = "samples",
) -> Method:
    """Dictionary pair learning (DPL), linear or in kernel space.

    Parameters
    ----------
    name, kernel, view
        As in :func:`collaborative_row`.
    space : mapping
        With separation, and the width of a kernel that has one.
    n_atoms : int, default=None
        Atoms where the table has every sample for an atom.
    """
    return Method(name, partial(_pair, n_atoms), space, kernel, view)


def collaborative_rows(widths: tuple[float, ...], view: str = "samples") -> tuple[Method, ...]:
    """CRC with the linear and with a Gaussian kernel.

    Parameters
    ----------
    widths : tuple of float
        Of the Gaussian, to search.
    view : str
    """
    from ...kernels import Gaussian

    return (
        collaborative_row("CRC", Linear(), view=view),
        collaborative_row("kernel CRC", Gaussian(), {"width": widths, **RIDGES}, view),
    )


def anchor_rows(
    widths: tuple[float, ...], n_atoms: int | None = None, view: str = "samples"
) -> tuple[Method, ...]:
    """CRC and DPL, each with the linear and with a Gaussian kernel.

    Parameters
    ----------
    widths, view
        As in :func:`collaborative_rows`.
    n_atoms : int, default=None
        Of DPL, as in :func:`pair_row`.
    """
    from ...kernels import Gaussian

    return (
        *collaborative_rows(widths, view),
        pair_row("DPL", Linear(), PAIRS, n_atoms, view),
        pair_row("kernel DPL", Gaussian(), {"width": widths, **PAIRS}, n_atoms, view),
    )


def collaborative(settings: Settings, n_atoms: int) -> Collaborative:
    """Ridge codes on a Gram matrix; settings: alpha."""
    return Collaborative(settings["alpha"])


def _pair(fixed: int | None, settings: Settings, n_atoms: int) -> KernelDictionaryPairLearning:
    return KernelDictionaryPairLearning(
        "precomputed",
        n_atoms=n_atoms if fixed is None else min(fixed, n_atoms),
        separation=settings["separation"],
        regularization=settings["regularization"],
    )
