"""From samples to codes, block by block: what ``transform`` and ``predict`` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches

from ..codes import Codes, is_csr, stacked, zero_rows
from ..dictionary import Dictionary
from ..formulations import Formulation
from ..memory import memory_advice
from ..parallel import count_threads, map_blocks, steady_blas
from ..problem import CodingProblem
from ..solvers.result import CodingResult, Convergence, Options, Status
from ..stacks import precision, width
from .zero_codes import Part, warn_zero_codes

# Samples are coded in blocks whose cross-similarities take about this many numbers: small enough
# to stay in cache between the kernel and the solver, large enough for an efficient product.
BLOCK_SIZE = 2**18
# Where atoms themselves do not stay in cache, each block reads all of them: blocks are larger then.
MANY_ATOMS, FEWEST_ROWS = 2**14, 128

FEWER_SAMPLES = (
    "Code fewer samples at a time, or set sparse_output=True, which keeps only what is not zero; "
    "a dictionary of fewer atoms needs less, too."
)

Kept = TypeVar("Kept")


def block_rows(dictionary: Dictionary) -> int:
    """Samples in one block."""
    fewest = FEWEST_ROWS if dictionary.n_atoms >= MANY_ATOMS else 16
    return max(fewest, BLOCK_SIZE // dictionary.n_atoms)


def _rows_together(
    formulation: Formulation, options: Options, dictionary: Dictionary, n: int
) -> int:
    """Samples in one block for this formulation: more where atoms are looked at by parts."""
    facts = dictionary.facts
    if not formulation.uses_gram or facts.is_whole or facts.is_affordable:
        return _evenly(n, block_rows(dictionary))
    shared = -(-n // count_threads(options.n_jobs))  # each thread has a block
    return max(block_rows(dictionary), min(shared, formulation.rows_by_parts(facts.n_atoms)))


def _evenly(n: int, n_rows: int) -> int:
    """About as many samples in each block: a small rest costs as many calls as a whole block."""
    n_blocks = max(round(n / n_rows), 1)
    return max(-(-n // n_blocks), 1)


def problems(dictionary: Dictionary, X: NDArray) -> Iterator[tuple[slice, CodingProblem]]:
    """The coding problems of samples, block by block."""
    for rows in gen_batches(len(X), block_rows(dictionary)):
        yield rows, dictionary.problem(X[rows])


def map_codes(
    formulation: Formulation,
    options: Options,
    dictionary: Dictionary,
    X: NDArray,
    keep: Callable[[slice, CodingProblem, CodingResult], Kept],
    stacklevel: int,
    tell_zeros: bool = True,
) -> list[Kept]:
    """Code samples in blocks, several at a time where asked.

    Warns once of rows unfinished, or where most codes are zero: single samples that no atom
    resembles are ordinary, a batch of them is a mistake.

    Parameters
    ----------
    formulation : Formulation
    options : Options
        ``n_jobs`` counts blocks that are coded at the same time; ``room`` is for all samples.
    dictionary : Dictionary
    X : array of shape (n, ...)
        Checked samples.
    keep : callable
        Of rows, their problem and its codes: what to keep of a block.
    stacklevel : int
        Of the warning: 3 is whoever calls this function.
    tell_zeros : bool, default=True
        Whether to warn where most codes are zero; False for who says so better.
    """
    n_rows = _rows_together(formulation, options, dictionary, len(X))
    # A block alone has all threads for its rows.
    alone = replace(options, n_jobs=1) if len(X) > n_rows else options

    def code(rows: slice) -> tuple[Kept, Convergence, NDArray]:
        problem = dictionary.problem(X[rows])
        own = alone if alone.room is None else replace(alone, room=alone.room[rows])
        result = formulation.solve(problem, own)
        return keep(rows, problem, result), result.convergence, zero_rows(result.codes)

    product = min(n_rows, len(X)) * dictionary.n_atoms * width(X)
    with memory_advice(FEWER_SAMPLES), steady_blas(product):
        found = map_blocks(code, len(X), n_rows, options.n_jobs)
    convergence = sum((ended for _, ended, _ in found), Convergence())
    convergence.warn(stacklevel=stacklevel)
    if tell_zeros and convergence.status is Status.CONVERGED and convergence.n_zero:
        silent = np.flatnonzero(np.concatenate([empty for _, _, empty in found]))

        def of_silent() -> Iterator[Part]:
            return ((formulation, problem) for _, problem in problems(dictionary, X[silent]))

        counts = convergence.n_zero, convergence.n_rows
        warn_zero_codes(of_silent, counts, stacklevel=stacklevel)
    return [kept for kept, _, _ in found]


def code_samples(
    formulation: Formulation,
    options: Options,
    dictionary: Dictionary,
    X: NDArray,
    stacklevel: int = 5,
    tell_zeros: bool = True,
) -> Codes:
    """Codes of checked samples in their precision, dense or CSR as ``options`` say.

    By default, warnings point at the caller of the method that calls this function.
    """
    compact = options.sparse_output or formulation.is_sparse
    inner = replace(options, sparse_output=compact)
    if options.sparse_output:
        blocks = map_codes(
            formulation,
            inner,
            dictionary,
            X,
            lambda rows, problem, result: result.codes,
            stacklevel,
            tell_zeros,
        )
        return with_short_indices(stacked(blocks).astype(precision(X), copy=False))
    # Zeros cost nothing until they are touched: sparse codes touch few.
    make = np.zeros if compact else np.empty
    with memory_advice(FEWER_SAMPLES):
        codes = make((len(X), dictionary.n_atoms), precision(X))

    def write(rows: slice, problem: CodingProblem, result: CodingResult) -> None:
        if is_csr(result.codes):
            result.codes.astype(codes.dtype, copy=False).toarray(out=codes[rows])
        elif not np.may_share_memory(result.codes, codes):
            codes[rows] = result.codes

    inner = replace(inner, room=None if compact else codes)
    map_codes(formulation, inner, dictionary, X, write, stacklevel, tell_zeros)
    return codes


def with_short_indices(codes: sparse.csr_array) -> sparse.csr_array:
    """The same codes with indices of 32 bits where that is enough: compiled peers want them."""
    if max(codes.nnz, codes.shape[1]) <= np.iinfo(np.int32).max:
        codes.indices = codes.indices.astype(np.int32, copy=False)
        codes.indptr = codes.indptr.astype(np.int32, copy=False)
    return codes


def mean_objective(
    formulation: Formulation, options: Options, dictionary: Dictionary, X: NDArray
) -> float:
    """The objective of coding checked samples, mean over samples, in double precision."""
    codes = code_samples(formulation, options, dictionary, X, stacklevel=6)
    total = 0.0
    for rows, problem in problems(dictionary, X):
        exact, part = problem.astype(np.float64), codes[rows].astype(np.float64)
        total += 0.5 * exact.squared_error(part).sum()
        total += formulation.value(exact, part).sum()
    return float(total) / len(X)
