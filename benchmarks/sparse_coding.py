"""Kernel sparse coding: the active set against SPAMS and scikit-learn, and warm starts."""

import time

import numpy as np
import spams
from sklearn.decomposition import sparse_encode
from threadpoolctl import threadpool_limits

from kernelcoding import KernelSparseCoder
from kernelcoding.constraints import Free
from kernelcoding.penalty import Penalty
from kernelcoding.solvers import active_set
from kernelcoding.solvers.result import Options

from . import data
from .judge import Row, kkt_residual, lasso_objective, race


def cells():
    """Problems and weights of the grid, with names."""
    faces = data.yaleb()
    if faces is not None:
        atoms, queries, *_ = faces
        for width in (0.1, 0.3, 1.0):
            problem = data.gaussian_problem(atoms, queries[:300], width)
            for alpha in (0.01, 0.002, 0.0005):
                yield f"YaleB 1216, width {width}, alpha {alpha}", problem, alpha
    for n_atoms in (512, 1024):
        atoms, queries, *_ = data.digits(n_atoms)
        problem = data.gaussian_problem(atoms, queries[:300], 1.0)
        for alpha in (0.05, 0.01, 0.002):
            yield f"digits {n_atoms}, alpha {alpha}", problem, alpha


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


def run(quick=False):
    """Rows of the table."""
    for case, problem, alpha in cells():
        for threads in (1, 2):
            peer = spams_lasso(problem, threads)
            with threadpool_limits(threads):
                measured, (codes, answer) = race(
                    lambda p=problem, a=alpha, t=threads: ours(p, a, t),
                    lambda peer=peer, a=alpha: peer(a),
                    repeats=2 if quick else 5,
                )
            codes, other = codes.toarray(), answer.T.toarray()
            yield Row(
                "sparse_coding", case, "spams.lasso", threads, measured, {
                    "nonzero": float(np.count_nonzero(codes, axis=1).mean()),
                    "objective difference": lasso_objective(problem, codes, alpha)
                    - lasso_objective(problem, other, alpha),
                    "KKT / alpha": kkt_residual(problem, codes, alpha),
                    "peer's KKT / alpha": kkt_residual(problem, other, alpha),
                },
            )  # fmt: skip
        yield public_call(case, problem, alpha, repeats=2 if quick else 5)
        yield against_scikit_learn(case, problem, alpha)
        yield warm_start(case, problem, alpha)


def public_call(case, problem, alpha, repeats):
    """What users call: ``transform`` of a fitted coder, similarities given, one thread."""
    coder = KernelSparseCoder("precomputed", alpha=alpha, sparse_output=True).fit(problem.gram)
    peer = spams_lasso(problem, 1)
    with threadpool_limits(1):
        measured, (codes, _) = race(
            lambda: coder.transform(problem.cross), lambda: peer(alpha), repeats=repeats
        )
    facts = {"KKT / alpha": kkt_residual(problem, codes.toarray(), alpha)}
    return Row("sparse_coding", case, "spams.lasso, transform", 1, measured, facts)


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
