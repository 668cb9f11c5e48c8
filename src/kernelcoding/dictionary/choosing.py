"""Choosing samples to be atoms or landmarks: one table of names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import row_sums
from ..gram import GramFacts
from ..memory import announce, memory_advice
from .candidates import Candidates, part_rows

MAX_LLOYD_ROUNDS = 100
# Atoms (not landmarks) may also be the means of clusters that start from k-means++.
MEANS = "kernel-k-means"
LESS = (
    'The choices "k-means++" and "random" need a few numbers per sample; "leverage" goes by parts.'
)


def random_choice(
    candidates: Candidates, n_chosen: int, random_state: np.random.RandomState
) -> NDArray:
    """Samples drawn without replacement, in increasing order."""
    chances = candidates.shares
    return np.sort(random_state.choice(len(candidates), n_chosen, replace=False, p=chances))


def spread_choice(
    candidates: Candidates, n_chosen: int, random_state: np.random.RandomState
) -> NDArray:
    """k-means++ in H: each next sample is drawn in proportion to its squared distance."""
    self_similarity, similarity_to = candidates.columns()
    self_similarity = self_similarity.astype(np.float64)
    n_samples = len(self_similarity)
    chosen: list[int] = []
    distances = np.ones(n_samples)
    counts = 1.0 if candidates.sample_weight is None else candidates.sample_weight
    for _ in range(n_chosen):
        chances = counts * distances
        total = chances.sum()
        if total > 0:
            weights = chances / total
        else:  # only copies of chosen samples are left: any of those not yet taken
            weights = np.ones(n_samples)
            weights[chosen] = 0.0
            weights /= weights.sum()
        new = _drawn(weights, random_state)
        chosen.append(new)
        away = self_similarity - 2.0 * similarity_to(new) + self_similarity[new]
        away = np.maximum(away, 0.0)
        distances = away if len(chosen) == 1 else np.minimum(distances, away)
        distances[new] = 0.0
    return np.array(chosen)


def _drawn(chances: NDArray, random_state: np.random.RandomState) -> int:
    """What ``random_state.choice(len(chances), p=chances)`` draws, without its checks."""
    below = np.cumsum(chances)
    return int(np.searchsorted(below / below[-1], random_state.random_sample(), side="right"))


def leverage_choice(
    candidates: Candidates, n_chosen: int, random_state: np.random.RandomState
) -> NDArray:
    r"""Drawn in proportion to ridge leverage scores, which favours samples hard to explain.

    .. math:: \ell_i = [K(K + \lambda I)^{-1}]_{ii}, \qquad \lambda = \mathrm{tr}(K) / m

    Scores are estimated on m pilot samples drawn at random. With B an orthonormal basis of their
    span, :math:`f_i` the coordinates of sample i and :math:`\rho_i` what they miss of its norm, the
    estimate is :math:`f_i^\top(F^\top F + \lambda I)^{-1}f_i + \rho_i / \lambda`.
    """
    pilot = random_choice(candidates, n_chosen, random_state)
    gram = candidates.take(pilot).similarity_to(np.arange(n_chosen))
    basis = GramFacts(gram).orthonormal_basis()
    self_similarity = candidates.columns()[0]
    ridge = float(self_similarity.sum()) / n_chosen
    # One piece is kept; several are computed twice, rather than kept for all samples.
    is_small = len(candidates) <= part_rows(n_chosen)
    kept = list(_features(candidates, pilot, basis)) if is_small else None
    inner = ridge * np.eye(basis.shape[1])
    for _, features in kept or _features(candidates, pilot, basis):
        inner += features.T @ features
    scores = np.empty(len(candidates))
    for rows, features in kept or _features(candidates, pilot, basis):
        explained = np.einsum("ij,ij->i", features, np.linalg.solve(inner, features.T).T)
        left = self_similarity[rows] - np.einsum("ij,ij->i", features, features)
        scores[rows] = np.maximum(explained + np.maximum(left, 0.0) / ridge, 1e-12)
    if candidates.sample_weight is not None:
        scores = scores * candidates.sample_weight
    return random_state.choice(len(candidates), n_chosen, replace=False, p=scores / scores.sum())


def _features(
    candidates: Candidates, pilot: NDArray, basis: NDArray
) -> Iterator[tuple[slice, NDArray]]:
    """Coordinates of consecutive samples in the span of the pilot samples, (p, m)."""
    for rows, cross in candidates.parts_similar_to(pilot):
        yield rows, cross.astype(np.float64) @ basis


def greedy_choice(
    candidates: Candidates, n_chosen: int, random_state: np.random.RandomState
) -> NDArray:
    r"""The sample that those chosen before explain worst, again and again: pivoted Cholesky.

    The residual :math:`k(x, x) - \|L_x\|^2` of every sample is known after each step, L being the
    Cholesky factor of the similarities so far; the largest is next, the first of equal ones. No
    random number is used. Once all residuals are at the level of rounding, the rest are taken in
    the order of what is left.
    """
    self_similarity, similarity_to = candidates.columns()
    missed = self_similarity.astype(np.float64)
    last_places = n_chosen * np.finfo(self_similarity.dtype).eps * float(missed.max())
    what = f"The greedy choice of {n_chosen} among {len(missed)} samples"
    announce(8.0 * n_chosen * len(missed), what, LESS, stacklevel=4)
    with memory_advice(LESS):
        factor = np.empty((n_chosen, len(missed)))
    chosen = np.empty(n_chosen, dtype=np.intp)
    for step in range(n_chosen):
        new = int(missed.argmax())
        if missed[new] <= last_places:
            chosen[step:] = np.argsort(-missed, kind="stable")[: n_chosen - step]
            break
        known = factor[:step]
        factor[step] = (similarity_to(new) - known[:, new] @ known) / np.sqrt(missed[new])
        missed -= factor[step] ** 2
        missed[new] = -np.inf
        chosen[step] = new
    return chosen


Choice = Callable[[Candidates, int, np.random.RandomState], NDArray]

CHOICES: dict[str, Choice] = {
    "k-means++": spread_choice,
    "random": random_choice,
    "leverage": leverage_choice,
    "greedy": greedy_choice,
}


def named_choice(name: str, parameter: str, means: bool = False) -> str:
    """The name of a choice as it is today; ValueError names those that exist.

    Parameters
    ----------
    name : str
        What the user said.
    parameter : str
        Of which parameter, for the message.
    means : bool, default=False
        Whether means of clusters are possible too.
    """
    if name == "uniform":
        warnings.warn(
            f'{parameter}="uniform" is now called "random", as in init; the old name will go.',
            FutureWarning,
            stacklevel=3,
        )
        return "random"
    known = sorted([*CHOICES, MEANS] if means else CHOICES)
    if name not in known:
        others = "" if means else " or points"
        raise ValueError(f"{parameter} must be one of {known}{others}, got {name!r}.")
    return name


def cluster_means(
    facts: GramFacts, starts: NDArray, sample_weight: NDArray | None = None
) -> sparse.csr_array:
    """Lloyd's algorithm in H, from samples as centres: weights of the means, (n, n_atoms).

    Each round costs all inner products of the samples, where their matrix is not at hand.
    """
    n_samples, n_atoms = facts.n_atoms, len(starts)
    shape, dtype = (n_samples, n_atoms), facts.dtype
    centres = sparse.csr_array((np.ones(n_atoms, dtype), (starts, np.arange(n_atoms))), shape=shape)
    labels = np.full(n_samples, -1)
    for _ in range(MAX_LLOYD_ROUNDS):
        cross = facts.times(centres)
        scores = row_sums(centres.T, cross.T) - 2.0 * cross
        new_labels = scores.argmin(axis=1)
        _refill_empty(new_labels, scores.min(axis=1) + facts.squares, n_atoms)
        if np.array_equal(new_labels, labels):
            break
        labels = new_labels
        shares = np.ones(n_samples) if sample_weight is None else sample_weight
        shares = shares / np.bincount(labels, shares, n_atoms)[labels]
        place = np.arange(n_samples), labels
        centres = sparse.csr_array((shares.astype(dtype), place), shape=shape)
    return centres


def _refill_empty(labels: NDArray, distances: NDArray, n_atoms: int) -> None:
    """Give each empty cluster the worst represented sample of a cluster that can spare one."""
    for empty in np.flatnonzero(np.bincount(labels, minlength=n_atoms) == 0):
        can_spare = np.bincount(labels, minlength=n_atoms)[labels] > 1
        worst = np.argmax(np.where(can_spare, distances, -np.inf))
        labels[worst] = empty
        distances[worst] = -np.inf
