"""What dictionary learning refuses, and what it tells the user to do instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..coders.base import BaseKernelCoder, require_coder
from ..coders.coding import problems
from ..coders.transformer import CodingTransformer
from ..coders.zero_codes import Part, silenced, warn_zero_codes, why_zero
from ..dictionary.choosing import named_choice
from ..distributed.inputs import is_lazy
from ..formulations import Formulation
from ..kernels.base import Kernel
from ..problem import CodingProblem
from ..solvers.result import Convergence, Status
from ..validation import check_count, check_positive
from .frames import Frame
from .updates import UPDATES, named_update


class Settings(Protocol):
    """Parameters that every learning estimator has."""

    n_atoms: int | None
    n_landmarks: int | None
    landmarks: str | ArrayLike
    init: str
    max_iter: int
    tol: float


def check_settings(learning: Settings) -> None:
    """Refuse parameters of the learning estimator that no data could make sense of."""
    n_atoms = 1 if learning.n_atoms is None else learning.n_atoms
    check_count("n_atoms", n_atoms)
    check_count("max_iter", learning.max_iter)
    if learning.n_landmarks is not None:
        check_count("n_landmarks", learning.n_landmarks)
        if isinstance(learning.landmarks, str) and learning.n_landmarks < n_atoms:
            raise ValueError(
                f"n_landmarks={learning.n_landmarks} must be at least n_atoms={n_atoms}."
            )
    if isinstance(learning.landmarks, str):
        named_choice(learning.landmarks, "landmarks")
    if learning.tol != 0:
        check_positive("tol", learning.tol)


def atoms_to_learn(
    learning: Settings, n_samples: int, by_default: int, weighted: bool, where: str = ""
) -> int:
    """How many: as wanted, or so many by default; ValueError where samples are too few."""
    if isinstance(learning.landmarks, str) and learning.n_landmarks is not None:
        by_default = min(by_default, learning.n_landmarks)
    wanted = by_default if learning.n_atoms is None else learning.n_atoms
    if wanted > n_samples:
        of_weight = " of positive weight" if weighted else ""
        raise ValueError(
            f"n_atoms={wanted} must be at most the number of training samples{of_weight}{where}, "
            f"n_samples={n_samples}."
        )
    return wanted


def check_forgetting(forgetting: float | str) -> None:
    """Refuse what is neither "auto" nor a number in (0, 1]."""
    if forgetting != "auto":
        check_positive("forgetting", forgetting)
        if float(forgetting) > 1:
            raise ValueError(f"forgetting must be at most 1, got {forgetting!r}.")


def check_online(update: str, kernel: Kernel, X: object) -> None:
    """Refuse what `partial_fit` cannot learn from."""
    if kernel.uses_index:
        raise ValueError(
            "partial_fit needs samples, not similarities: a precomputed kernel ties all "
            "samples to one training set. Use fit, or a kernel of samples."
        )
    if not named_update(update).learns_online:
        names = [name for name, kind in UPDATES.items() if kind.learns_online]
        raise ValueError(
            f"partial_fit keeps no codes, which update={update!r} needs. Use one of {names}."
        )
    if is_lazy(X):
        raise ValueError(
            "partial_fit learns from one batch in memory. Call fit(X) with samples of Dask, or "
            "partial_fit(block.compute()) for each of their blocks."
        )


def check_coder(coder: BaseKernelCoder) -> None:
    """Refuse what is no coder, or a coder with nothing left to learn."""
    require_coder(coder)
    if coder.atoms is not None:
        raise ValueError(
            f"The coder's atoms are fixed (atoms={type(coder.atoms).__name__}), so there is "
            "nothing to learn. Give the coder atoms=None and say n_atoms here."
        )
    if coder.learn_kernel:
        raise ValueError(
            "The coder's kernel is learned with the dictionary: give the coder learn_kernel=False "
            "and say learn_kernel here."
        )
    coder._check_parameters()


def require_distinct(frame: Frame, vectors: NDArray) -> None:
    """Refuse samples that are all one point in H."""
    norms = np.diag(frame.gram(vectors))
    distances = norms + norms[0] - 2.0 * frame.gram(vectors)[0]
    smallest = 1e-12 * max(float(norms.max()), np.finfo(float).tiny)
    if distances.max() > smallest:
        return
    for block in frame.blocks(vectors[:, :1]):  # first atoms may coincide by chance
        if np.max(block.self_similarity + norms[0] - 2.0 * block.cross[:, 0]) > smallest:
            return
    raise ValueError(
        "All samples are the same point in the Hilbert space of the kernel: a dictionary needs "
        "at least two distinct samples."
    )


def refuse_zero_codes(
    formulation: Formulation, of_samples: Iterable[CodingProblem], convergence: Convergence
) -> NoReturn:
    """Say why no atom is used: the coding problems tell the largest useful alpha."""
    if convergence.status is not Status.CONVERGED:
        raise ValueError(f"All codes are zero, because {convergence.status.value}.")
    why = why_zero((formulation, problem) for problem in of_samples)
    raise ValueError(f"All codes are zero: {why}")


def tell_zero_codes(
    learned: CodingTransformer, convergence: Convergence, X: NDArray, where: str
) -> None:
    """Warn once where most samples that were learned from have codes of zeros."""
    if convergence.status is not Status.CONVERGED:
        return
    formulation, _ = learned._coding()

    def parts() -> Iterator[Part]:
        every = problems(learned.dictionary_, X)
        return silenced((formulation, problem) for _, problem in every)

    warn_zero_codes(parts, (convergence.n_zero, convergence.n_rows), where, stacklevel=4)


def counting(X: NDArray, sample_weight: NDArray | None, kernel: Kernel) -> NDArray:
    """The samples of positive weight; all rows of a matrix of similarities."""
    if sample_weight is None or kernel.uses_index or np.all(sample_weight > 0):
        return X
    return X[sample_weight > 0]


def counting_labelled(
    X: NDArray, y: NDArray | None, sample_weight: NDArray | None, kernel: Kernel
) -> tuple[NDArray, NDArray | None]:
    """These samples and their labels, where there are any."""
    found = counting(X, sample_weight, kernel)
    if found is X or y is None:
        return found, y
    assert sample_weight is not None
    return found, np.asarray(y)[sample_weight > 0]
