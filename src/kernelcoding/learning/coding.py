"""The half-step for the codes, and the sums over samples that the half-step for atoms needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..codes import dense, times, times_codes
from ..constraints import AtMost
from ..gram import GramFacts
from ..problem import Codes, CodingProblem, KnownDictionary
from ..solvers.choose import Options
from .frames import Block, Frame

NOTHING: tuple[None, None] = (None, None)


@dataclass(slots=True)
class Sums:
    r"""All that the update of atoms asks of the samples.

    For fixed codes the objective is, up to a constant,

    .. math:: q(D) = \tfrac12\,\mathrm{tr}(S\,D^\top D) - \mathrm{tr}(M^\top D), \qquad
              S = Y^\top Y, \quad M = \Phi(X) Y.
    """

    moment: NDArray  # (p, N) coordinates of M
    second: NDArray  # (N, N) S
    n_samples: float

    @classmethod
    def none(cls, vectors: NDArray) -> Sums:
        """The sums over no samples, for atoms like these."""
        return cls(np.zeros_like(vectors), np.zeros((vectors.shape[1],) * 2), 0.0)

    def faded(self, factor: float) -> Sums:
        """The same samples, counting less."""
        return Sums(factor * self.moment, factor * self.second, factor * self.n_samples)

    def plus(self, other: Sums) -> Sums:
        """The sums over both sets of samples."""
        return Sums(
            self.moment + other.moment,
            self.second + other.second,
            self.n_samples + other.n_samples,
        )

    def value(self, frame: Frame, vectors: NDArray) -> float:
        """Q at these atoms, a mean over samples."""
        linear = np.trace(frame.inner(self.moment, vectors))
        return float(0.5 * np.sum(self.second * frame.gram(vectors)) - linear) / self.n_samples


@dataclass(slots=True)
class Coded:
    """Codes of all samples, where kept, and what was summed on the way."""

    codes: Codes | None
    sums: Sums
    objective: float  # mean over samples
    errors: NDArray  # (n,) squared reconstruction errors
    usage: NDArray  # (N,) samples that use the atom


def problem_of(block: Block, gram: NDArray, facts: GramFacts | None = None) -> CodingProblem:
    """A block's coding problem."""
    return CodingProblem(block.self_similarity, block.cross, gram, facts or GramFacts(gram))


def encode(coder: Any, problem: CodingProblem, options: Options) -> Codes:
    """Codes by any coder, from similarities alone."""
    known = KnownDictionary(problem)
    rows = np.arange(problem.n_samples)
    return coder.encode(known, rows, replace(options, certify=False)).codes


def code_samples(
    frame: Frame, vectors: NDArray, coder: Any, options: Options, start: Codes | None = None
) -> Coded:
    """Code all samples with the given atoms and sum up.

    A greedy code is replaced by the sample's previous one where that is better: the objective then
    never rises.
    """
    gram = frame.gram(vectors)
    facts = GramFacts(gram)
    kept: list[tuple[Codes, Codes]] = []
    image: NDArray = np.zeros((frame.landmarks.n_atoms, len(gram)))
    second: NDArray = np.zeros_like(gram)
    held = np.zeros(len(gram))
    objective, usage = 0.0, np.zeros(len(gram))
    errors = np.empty(frame.n_samples)
    for block in frame.blocks(vectors):
        problem = problem_of(block, gram, facts)
        here = coder.at(block)
        before = None if start is None else start[block.rows]
        codes = encode(here, problem, replace(options, start=before))
        error = problem.squared_error(codes)
        if before is not None and isinstance(coder.formulation().constraint, AtMost):
            codes, error = better(problem, codes, error, before)
        loads, extra, pull = loads_of(here, problem, codes)
        image += times_codes(block.similarity.T, loads)
        second += squared(codes) + np.diag(extra)
        held += pull
        objective += 0.5 * error.sum() + here.prior_value(problem, codes).sum()
        usage += used(codes)
        errors[block.rows] = error
        if frame.keeps_samples or coder.keeps_codes:
            kept.append((codes, loads))
    all_codes, all_loads = (stacked(part) for part in zip(*kept, strict=True)) if kept else NOTHING
    moment = frame.coordinates(image, all_loads) + vectors * held
    sums = Sums(moment, second, len(errors))
    return Coded(all_codes, sums, float(objective) / len(errors), errors, usage)


def stacked(parts: Sequence[Codes]) -> Codes:
    """Codes of all blocks, one below the other."""
    if len(parts) == 1:
        return parts[0]
    if all(sparse.issparse(part) for part in parts):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.vstack([dense(part) for part in parts])


def widened(codes: Codes, atoms: NDArray, n_atoms: int) -> Codes:
    """Codes of some atoms as codes of all."""
    if len(atoms) == n_atoms:
        return codes
    if sparse.issparse(codes):
        parts = (codes.data, atoms[codes.indices], codes.indptr)
        return sparse.csr_array(parts, shape=(codes.shape[0], n_atoms))
    wide = np.zeros((codes.shape[0], n_atoms))
    wide[:, atoms] = codes
    return wide


def objective_at(frame: Frame, vectors: NDArray, coder: Any, codes: Codes) -> float:
    """The mean objective of given codes with given atoms; one pass over kept samples."""
    gram = frame.gram(vectors)
    total = 0.0
    for block in frame.blocks(vectors):
        problem = problem_of(block, gram)
        part = codes[block.rows]
        total += 0.5 * problem.squared_error(part).sum()
        total += coder.at(block).prior_value(problem, part).sum()
    return float(total) / frame.n_samples


def loads_of(coder: Any, problem: CodingProblem, codes: Codes) -> tuple[Codes, NDArray, NDArray]:
    r"""What samples add to the moment and to the diagonal of S where the prior looks at atoms.

    Locality priors are functions of the distances :math:`\|\phi(x_i) - d_j\|`. Their gradient in
    :math:`d_j` is :math:`\sum_i h_{ij}(d_j - \phi(x_i))`, as that of a quadratic with weights h:

    * local coordinate coding is such a quadratic, :math:`h = 2\alpha|y|`, and the update is exact;
    * for the price of exact LLC, h depends on the distances. The update of atoms then goes in a
      descent direction, and the caller checks how far.

    Returns
    -------
    loads : array or CSR array of shape (n, N)
        Y + h.
    extra : array of shape (N,)
        Never negative; added to the diagonal of S.
    pull : array of shape (N,)
        How much of ``extra`` holds atoms where they are, beyond the sum of h.
    """
    weights = coder.distance_weights(problem, codes)
    if weights is None:
        nothing = np.zeros(codes.shape[1])
        return codes, nothing, nothing
    totals = np.asarray(weights.sum(axis=0)).ravel()
    extra = np.asarray(abs(weights).sum(axis=0)).ravel()  # negative weights bend as much
    return codes + weights, extra, extra - totals


def better(
    problem: CodingProblem, codes: Codes, error: NDArray, before: Codes
) -> tuple[Codes, NDArray]:
    """Row by row, the codes with the lower error."""
    old_error = problem.squared_error(before)
    worse = error > old_error
    if not worse.any():
        return codes, error
    if sparse.issparse(codes):
        keep, back = (sparse.diags_array(mask.astype(float)) for mask in (~worse, worse))
        mixed = sparse.csr_array(keep @ codes + back @ sparse.csr_array(before))
    else:
        mixed = np.where(worse[:, None], before, codes)
    return mixed, np.minimum(error, old_error)


def squared(codes: Codes) -> NDArray:
    """Y'Y as a dense array."""
    return times(codes.T.tocsr() if sparse.issparse(codes) else codes.T, dense(codes))


def used(codes: Codes) -> NDArray:
    """How many samples use each atom."""
    if sparse.issparse(codes):
        return np.bincount(codes.indices[codes.data != 0], minlength=codes.shape[1]).astype(float)
    return np.count_nonzero(codes, axis=0).astype(float)
