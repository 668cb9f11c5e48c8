"""What codes must satisfy, from the kernel's own numbers and not from the library's sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernelcoding.coders.transformer import CodingTransformer
from kernelcoding.constraints import OneAtom
from kernelcoding.dictionary import CombinationDictionary
from kernelcoding.formulations import (
    Formulation,
    NeighbourFit,
    OnCandidates,
    Penalised,
    SoftAssignment,
)

from ..base import Failure


def require(fact: bool, message: str) -> None:
    """Raise what is not so."""
    if not fact:
        raise Failure(message)


def close(found: NDArray, wanted: NDArray, tolerance: float, what: str) -> None:
    """Equal up to a part of the larger of one and the largest number."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    require(found.shape == wanted.shape, f"{what}: shapes {found.shape} and {wanted.shape}")
    require(bool(np.isfinite(found).all()), f"{what} is not finite")
    scale = max(1.0, float(np.abs(wanted).max(initial=0.0)))
    off = float(np.abs(found - wanted).max(initial=0.0))
    require(off <= tolerance * scale, f"{what} is off by {off:.2e}, of {scale:.2e}")


def plain(codes: object) -> NDArray:
    """Codes as a dense array of double precision."""
    return np.asarray(codes.toarray() if sparse.issparse(codes) else codes, dtype=np.float64)


def squared_errors(model: CodingTransformer, Q: NDArray, codes: NDArray) -> NDArray:
    """Squared distances in H, from values of the kernel between samples and landmarks."""
    dictionary = model.dictionary_
    problem = dictionary.problem(Q).astype(np.float64)
    cross, gram = problem.cross, problem.gram
    if model.kernel_.is_positive_definite is True and not model.kernel_.uses_index:
        combined = isinstance(dictionary, CombinationDictionary)
        points = dictionary.landmarks.points if combined else dictionary.points
        weights = dictionary.weights if combined else np.eye(len(points))
        cross = model.kernel_(Q, points).astype(float) @ weights
        gram = weights.T @ model.kernel_(points, points).astype(float) @ weights
    inner = np.einsum("ij,ij->i", codes, cross)
    own = problem.self_similarity
    return own - 2.0 * inner + np.einsum("ij,jk,ik->i", codes, gram, codes)


def check_codes(
    model: CodingTransformer,
    formulation: Formulation,
    Q: NDArray,
    given: object,
    precision: float = 1e-7,
) -> None:
    """Finite, feasible, with the error that the kernel says, and a certificate that is one."""
    codes = plain(given)
    require(codes.shape == (Q.shape[0], model.dictionary_.n_atoms), f"shape {codes.shape}")
    require(bool(np.isfinite(codes).all()), "codes are not finite")
    check_feasible(formulation, codes, precision)
    own = model.dictionary_.problem(Q).self_similarity.astype(float)
    # Errors are differences of numbers as large as these.
    size = float(own.max()) * (1.0 + float(np.abs(codes).sum(axis=1).max()) ** 2)
    errors = model.reconstruction_error(Q, given)
    close(
        errors / size, np.maximum(squared_errors(model, Q, codes), 0.0) / size, precision, "error"
    )
    gaps = model.certify(Q, given)
    require(not np.isnan(gaps).any() and float(gaps.min()) >= 0.0, "a certificate is negative")
    finite = gaps[np.isfinite(gaps)]
    best = 0.5 * errors + formulation.value(model.dictionary_.problem(Q), codes)
    if isinstance(formulation, NeighbourFit | SoftAssignment):
        best = own
    if not formulation.is_greedy and precision < 1e-5 and finite.size:
        scale = size / (1.0 + np.abs(codes).sum(axis=1).max()) ** 2
        bound = 1e-3 * (best[np.isfinite(gaps)] + scale)
        require(bool(np.all(finite <= bound)), f"certificates up to {finite.max():.2e}")


def check_feasible(formulation: Formulation, codes: NDArray, precision: float) -> None:
    """In the set that the formulation allows."""
    size = np.maximum(1.0, np.abs(codes).sum(axis=1))
    if formulation.nonnegative:
        require(float(codes.min()) >= 0.0, "a code is negative")
    if isinstance(formulation, OnCandidates):
        return check_feasible(formulation.formulation, codes, precision)
    unit = not isinstance(formulation, Penalised) or formulation.constraint.sum_to_one
    if unit or isinstance(getattr(formulation, "constraint", None), OneAtom):
        off = np.abs(codes.sum(axis=1) - 1.0) / size
        require(float(off.max()) <= max(precision, 1e-9), "codes do not sum to one")
    if formulation.is_greedy:
        most = int(np.count_nonzero(codes, axis=1).max())
        require(most <= formulation.constraint.n_nonzero, f"{most} atoms in a code")
