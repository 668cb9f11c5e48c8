"""Matching pursuit: OMP against dictlearn's Batch-OMP, OLS against spams.omp."""

import dictlearn
import numpy as np
import spams
from threadpoolctl import threadpool_limits

from kernelcoding.constraints import AtMost
from kernelcoding.priors import NoPrior
from kernelcoding.solvers import pursuit
from kernelcoding.solvers.result import Options

from . import data
from .judge import Row, race


def problems():
    """Real Gram matrices of two sizes."""
    atoms, queries, *_ = data.digits(256)
    yield "digits 256", data.gaussian_problem(atoms, queries, 1.0)
    atoms, queries, *_ = data.digits(1000)
    yield "digits 1000", data.gaussian_problem(atoms, queries, 1.0)
    faces = data.yaleb()
    if faces is not None:
        yield "YaleB 1216", data.gaussian_problem(faces[0], faces[1], 1.0)


def run(quick=False):
    """Rows of the table."""
    repeats = 2 if quick else 5
    for name, problem in problems():
        for n_nonzero in (5, 30):
            yield from against_dictlearn(name, problem, n_nonzero, repeats)
            yield from against_spams(name, problem, n_nonzero, repeats)


def ours(problem, n_nonzero, selection, threads):
    nothing = NoPrior().bind(problem)
    constraint, options = AtMost(n_nonzero, selection), Options(n_jobs=threads)
    return pursuit.solve(problem, nothing, constraint, options).codes


def mean_error(problem, codes):
    return float(problem.squared_error(codes).mean())


def against_dictlearn(name, problem, n_nonzero, repeats):
    """Its Batch-OMP has one thread."""
    cov = np.ascontiguousarray(problem.cross.T)
    with threadpool_limits(1):
        measured, (codes, other) = race(
            lambda: ours(problem, n_nonzero, "omp", 1),
            lambda: dictlearn.sparse_encode(
                None, None, algorithm="omp", n_nonzero_coefs=n_nonzero, gram=problem.gram, cov=cov
            ),
            repeats,
        )
    other = other if other.shape == codes.shape else other.T
    facts = {"error": mean_error(problem, codes), "peer's error": mean_error(problem, other)}
    yield Row("pursuit", f"OMP {n_nonzero}, {name}", "dictlearn", 1, measured, facts)


def against_spams(name, problem, n_nonzero, repeats):
    """It wants vectors: the factor is made outside the clock."""
    atoms, samples = data.factor(problem)
    for threads in (1, 2):
        with threadpool_limits(threads):
            measured, (codes, other) = race(
                lambda t=threads: ours(problem, n_nonzero, "ols", t),
                lambda t=threads: spams.omp(samples, atoms, L=n_nonzero, numThreads=t),
                repeats,
            )
        facts = {
            "error": mean_error(problem, codes),
            "peer's error": mean_error(problem, other.T.toarray()),
        }
        yield Row("pursuit", f"OLS {n_nonzero}, {name}", "spams.omp", threads, measured, facts)
