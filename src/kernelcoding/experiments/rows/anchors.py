"""Rows of methods that a reader will want beside ours, on the same samples and splits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ...classification import KernelDictionaryPairLearning
from ...kernels import Gaussian, Kernel, Linear
from ..definition import Method, Settings, Space
from ..running.classifiers import Collaborative, SampledAtoms
from .one_kernel import code_machine_rows

COSTS = (1.0, 10.0)  # of an SVM on codes
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
    return Method(name, partial(dictionary_pairs, n_atoms), space, kernel, view)


def collaborative_rows(widths: tuple[float, ...], view: str = "samples") -> tuple[Method, ...]:
    """CRC with the linear and with a Gaussian kernel.

    Parameters
    ----------
    widths : tuple of float
        Of the Gaussian, to search.
    view : str
    """
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
    return (*collaborative_rows(widths, view), *pair_rows(widths, n_atoms, view))


def pair_rows(
    widths: tuple[float, ...], n_atoms: int | None = None, view: str = "samples"
) -> tuple[Method, ...]:
    """DPL with the linear and with a Gaussian kernel.

    Parameters
    ----------
    widths, n_atoms, view
        As in :func:`anchor_rows`.
    """
    return (
        pair_row("DPL", Linear(), PAIRS, n_atoms, view),
        pair_row("kernel DPL", Gaussian(), {"width": widths, **PAIRS}, n_atoms, view),
    )


def learned_anchor_rows(
    spaces: Mapping[str, Space], rounds: int, widths: tuple[float, ...], view: str = "samples"
) -> tuple[Method, ...]:
    """Beside curves, at every number of atoms: an SVM on codes, and DPL.

    Parameters
    ----------
    spaces : mapping
        Those of ``supervised kSC`` and ``supervised kLLC``, which the SVM's codes share.
    rounds : int
        Of learning.
    widths : tuple of float
        Of kernel DPL.
    view : str
    """
    machines = code_machine_rows(spaces, rounds, COSTS, view)
    return (*machines, *pair_rows(widths, view=view))


def collaborative(settings: Settings, n_atoms: int) -> Collaborative:
    """Ridge codes on a Gram matrix; settings: alpha."""
    return Collaborative(settings["alpha"])


def sampled_collaborative(kernel: Kernel, settings: Settings, n_atoms: int) -> SampledAtoms:
    """Ridge codes over few training samples, as many of each class; settings: alpha."""
    return SampledAtoms(Collaborative(settings["alpha"], kernel), n_atoms)


def dictionary_pairs(
    fixed: int | None, settings: Settings, n_atoms: int
) -> KernelDictionaryPairLearning:
    """DPL on a Gram matrix, with as many atoms as are asked for, or a fixed number."""
    return KernelDictionaryPairLearning(
        "precomputed",
        n_atoms=n_atoms if fixed is None else min(fixed, n_atoms),
        separation=settings["separation"],
        regularization=settings["regularization"],
    )
