"""Kernel sparse coding: the active set against SPAMS and scikit-learn, and warm starts."""

import time
from dataclasses import dataclass

import numpy as np
import spams
from numpy.typing import NDArray
from sklearn.decomposition import sparse_encode
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from kernelcoding import KernelSparseCoder
from kernelcoding.constraints import Free
from kernelcoding.kernels import Gaussian
from kernelcoding.penalty import Penalty
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers import active_set
from kernelcoding.solvers.result import Options

from . import data
from .judge import Measured, Row, in_turns, kkt_residual, lasso_objective, race


@dataclass
class Cell:
    """One problem of the grid."""

    case: str
    atoms: NDArray
    queries: NDArray
    gamma: float
    problem: CodingProblem
    alpha: float

    def coder(self, kernel, **settings):
        """What users have before they call ``transform``."""
        given = self.problem.gram if kernel == "precomputed" else self.atoms
        coder = KernelSparseCoder(kernel, alpha=self.alpha, sparse_output=True, **settings)
        return coder.fit(given)


def cells(parts=("faces", "digits")):
    """Problems and weights of the grid."""
    faces = data.yaleb() if "faces" in parts else None
    if faces is not None:
        for width in (0.1, 0.3, 1.0):
            for alpha in (0.01, 0.002, 0.0005):
                name = f"YaleB 1216, width {width}, alpha {alpha}"
                yield cell(name, faces[0], faces[1][:300], width, alpha)
    for n_atoms in (512, 1024) if "digits" in parts else ():
        atoms, queries, *_ = data.digits(n_atoms)
        for alpha in (0.05, 0.01, 0.002):
            yield cell(f"digits {n_atoms}, alpha {alpha}", atoms, queries[:300], 1.0, alpha)


def cell(case, atoms, queries, width, alpha):
    gamma = width / data.median_squared_distance(atoms)
    problem = data.gaussian_problem(atoms, queries, width)
    return Cell(case, atoms, queries, gamma, problem, alpha)


def ours(problem, alpha, threads, start=None):
    """Codes as a CSR array; SPAMS returns columns of the same kind."""
    penalty = Penalty(np.full((1, problem.n_atoms), alpha), np.zeros((1, problem.n_atoms)))
    options = Options(n_jobs=threads, start=start, sparse_output=True)
    return active_set.solve(problem, penalty, Free(), options).codes


def spams_lasso(problem, threads):
    """Arrays as SPAMS wants them, prepared outside the clock; codes come back as CSC columns."""
    gram = np.asfortranarray(problem.gram)
    cross = np.asfortranarray(problem.cross.T)
    # It stops early when ||x||^2 looks small and caps the support at the rows of x.
    samples = np.zeros(cross.shape, order="F")
    samples[0] = np.sqrt(problem.self_similarity)
    return lambda alpha: spams.lasso(
        samples, Q=gram, q=cross, lambda1=alpha, mode=2, numThreads=threads
    )


def scikit_learn(problem, alpha, n_queries):
    cross = problem.cross[:n_queries].T
    return sparse_encode(
        np.zeros((n_queries, 1)),
        np.zeros((problem.n_atoms, 1)),
        gram=problem.gram,
        cov=cross,
        algorithm="lasso_lars",
        alpha=alpha,
    )


def run(quick=False, parts=("faces", "digits")):
    """Rows of the table."""
    for each in cells(parts):
        repeats = 2 if quick else 5
        yield from against_spams(each, 1, repeats)
        yield from against_spams(each, 2, repeats)
        yield against_scikit_learn(each.case, each.problem, each.alpha)
        yield warm_start(each.case, each.problem, each.alpha)


def against_spams(each, threads, repeats):
    """The solver alone, and what users call: ``transform`` of similarities and of samples.

    With one thread everything keeps to one; with more, calls of users are those of somebody who
    asks for nothing: ``n_jobs=None`` beside all threads of SPAMS and BLAS.
    """
    problem, alpha = each.problem, each.alpha
    peer = spams_lasso(problem, threads if threads == 1 else -1)
    given, samples = each.coder("precomputed"), each.coder(Gaussian(each.gamma))
    with threadpool_limits(1 if threads == 1 else None):
        best, (codes, _, _, other, _) = in_turns(
            (
                lambda: ours(problem, alpha, threads),
                lambda: given.transform(problem.cross),
                lambda: samples.transform(each.queries),
                lambda: peer(alpha),
                lambda: rbf_kernel(each.queries, each.atoms, gamma=each.gamma),
            ),
            repeats,
        )
    alone, of_given, of_samples, theirs, kernel = best
    codes, other = codes.toarray(), other.T.toarray()
    facts = {
        "nonzero": float(np.count_nonzero(codes, axis=1).mean()),
        "objective difference": lasso_objective(problem, codes, alpha)
        - lasso_objective(problem, other, alpha),
        "KKT / alpha": kkt_residual(problem, codes, alpha),
        "peer's KKT / alpha": kkt_residual(problem, other, alpha),
    }
    asked, said = (1, "") if threads == 1 else ("default", ", all threads")
    for peer_name, count, seconds, against in (
        ("spams.lasso", threads, alone, theirs),
        (f"transform: spams.lasso{said}", asked, of_given, theirs),
        (f"transform: rbf_kernel and spams.lasso{said}", asked, of_samples, theirs + kernel),
    ):
        measured = Measured(seconds, against)
        yield Row("sparse_coding", each.case, peer_name, count, measured, facts)
        facts = {}


def against_scikit_learn(case, problem, alpha, n_queries=5):
    """Its time is taken on a few queries, one run, and scaled."""
    with threadpool_limits(1):
        begin = time.perf_counter()
        codes = scikit_learn(problem, alpha, n_queries)
        theirs = (time.perf_counter() - begin) * problem.n_samples / n_queries
        measured, (own, _) = race(lambda: ours(problem, alpha, 1), lambda: None, repeats=3)
    measured.theirs = theirs
    part, own = problem.take(slice(0, n_queries)), own[:n_queries].toarray()
    difference = lasso_objective(part, own, alpha) - lasso_objective(part, codes, alpha)
    facts = {"objective difference": difference}
    return Row("sparse_coding", case, "scikit-learn", 1, measured, facts)


def warm_start(case, problem, alpha):
    """The peer is our own cold start, after the dictionary has changed a little; codes are CSR."""
    rng = np.random.default_rng(0)
    before = ours(problem, alpha, 1)
    mix = np.eye(problem.n_atoms)
    mix += 1e-4 * rng.normal(size=mix.shape) / np.sqrt(problem.n_atoms)
    moved = type(problem)(problem.self_similarity, problem.cross @ mix, mix.T @ problem.gram @ mix)
    measured, (codes, _) = race(
        lambda: ours(moved, alpha, 1, start=before),
        lambda: ours(moved, alpha, 1),
        repeats=3,
    )
    facts = {"KKT / alpha": kkt_residual(moved, codes.toarray(), alpha)}
    return Row("sparse_coding", case, "cold start", 1, measured, facts)
