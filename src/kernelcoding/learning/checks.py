"""What dictionary learning refuses, and what it tells the user to do instead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coders.bag_of_words import KernelBagOfWords
from ..coders.base import BaseKernelCoder, check_count, check_positive
from ..coders.pursuit import KernelMatchingPursuit
from ..formulation import Formulation
from ..kernels import Gaussian, as_kernel
from ..priors import FixedPrior, NoPrior
from .frames import Frame
from .landmarks import CHOICES
from .learner import UPDATES


def check_settings(learning: Any) -> None:
    """Refuse parameters of the learning estimator that no data could make sense of."""
    check_count("n_atoms", learning.n_atoms)
    check_count("max_iter", learning.max_iter)
    if learning.n_landmarks is not None:
        check_count("n_landmarks", learning.n_landmarks)
        if isinstance(learning.landmarks, str) and learning.n_landmarks < learning.n_atoms:
            raise ValueError(
                f"n_landmarks={learning.n_landmarks} must be at least n_atoms={learning.n_atoms}."
            )
    if isinstance(learning.landmarks, str) and learning.landmarks not in CHOICES:
        raise ValueError(
            f"landmarks must be one of {sorted(CHOICES)} or points, got {learning.landmarks!r}."
        )
    if learning.tol != 0:
        check_positive("tol", learning.tol)


def check_forgetting(forgetting: Any) -> None:
    """Refuse what is neither "auto" nor a number in (0, 1]."""
    if forgetting != "auto":
        check_positive("forgetting", forgetting)
        if forgetting > 1:
            raise ValueError(f"forgetting must be at most 1, got {forgetting!r}.")


def check_coder(coder: Any) -> None:
    """Refuse what is no coder, or a coder with nothing left to learn."""
    if not isinstance(coder, BaseKernelCoder):
        raise ValueError(
            f"coder must be a coder of this package, such as KernelSparseCoder(), got {coder!r}."
        )
    if coder.atoms is not None:
        raise ValueError(
            f"The coder's atoms are fixed (atoms={type(coder.atoms).__name__}), so there is "
            "nothing to learn. Give the coder atoms=None and say n_atoms here."
        )
    coder._check_parameters()


def is_soft(coder: Any) -> bool:
    """Whether codes are a smooth function of the atoms."""
    return (
        isinstance(coder, KernelBagOfWords)
        and coder.assignment == "soft"
        and coder.n_neighbors is None
    )


def check_update(update: str, coder: Any) -> None:
    """Refuse an update that does not go with the coder."""
    if update not in UPDATES:
        raise ValueError(f"update must be one of {UPDATES}, got {update!r}.")
    if update in ("ksvd", "aksvd") and not isinstance(coder, KernelMatchingPursuit):
        raise ValueError(
            f'update={update!r} is for greedy codes: use KernelMatchingPursuit, or update="auto".'
        )
    if update == "gradient" and not is_soft(coder):
        raise ValueError(
            'update="gradient" is for KernelBagOfWords(assignment="soft", n_neighbors=None), '
            'whose codes depend on the atoms; use update="auto".'
        )
    if update in ("pinv", "coordinate") and is_soft(coder):
        raise ValueError(
            f"update={update!r} takes codes as given, but those of soft bag of words change with "
            'the atoms and the objective would rise; use update="auto".'
        )
    if update == "points" and not isinstance(as_kernel(coder.kernel), Gaussian):
        raise ValueError(
            'update="points" is for the Gaussian kernel; use update="auto" for others.'
        )


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


def refuse_zero_codes(formulation: Formulation, crosses: Iterable[NDArray]) -> None:
    """Say why no atom is used: similarities of samples and atoms tell the largest useful alpha."""
    if isinstance(formulation.prior, NoPrior) or not isinstance(formulation.prior, FixedPrior):
        raise ValueError(
            "All codes are zero: no sample has anything in common with any atom (are the samples "
            "zero, or the kernel far too narrow?)."
        )
    largest = 0.0
    for cross in crosses:
        allowed = np.maximum(cross, 0.0) if formulation.constraint.nonnegative else cross
        penalty = formulation.prior.for_atoms(cross.shape[1])
        largest = max(largest, float(np.max(penalty.gauge(allowed))))
    raise ValueError(
        f"All codes are zero: alpha={formulation.alpha:g} is too large for these samples. The "
        f"largest alpha that uses any atom at all is {largest:.3g}; useful values are a tenth of "
        "that and below."
    )
