"""Groups, simplex and LCC against the best available peers, at the accuracy the peers reach."""

import mlpack
import numpy as np
import spams
from threadpoolctl import threadpool_limits

from kernelcoding.constraints import Free, Simplex
from kernelcoding.formulations import Penalised
from kernelcoding.priors import GroupL1, LocalCoordinate, NoPrior
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers.result import Options

from . import data
from .judge import Row, race


def run(quick=False):
    """Rows of the table."""
    repeats = 1 if quick else 3
    for name, atoms, queries, labels, n_queries in sources():
        problem = data.gaussian_problem(atoms, queries[:n_queries], 1.0)
        for alpha in (0.05, 0.01):
            yield groups(name, problem, labels, alpha, repeats)
        yield simplex(name, problem, repeats)
        try:
            yield local_coordinates(name, atoms, queries[:n_queries])
        except RuntimeError as failure:  # mlpack, where atoms have more features than it expects
            print(f"  LCC, {name}: mlpack failed ({failure})")


def sources():
    atoms, queries, labels, _ = data.digits(500)
    yield "digits 500", atoms, queries, labels, 50
    faces = data.yaleb()
    if faces is not None:
        yield "YaleB 1216", faces[0], faces[1], faces[2], 10


def encode(problem, formulation):
    return formulation.solve(problem, Options(n_jobs=1)).codes


def objective(problem, formulation, codes):
    return float(formulation.objective(problem, codes).mean())


def groups(name, problem, labels, alpha, repeats):
    """SPAMS runs FISTA to a duality gap of 1e-6; every group weighs the same there."""
    formulation = Penalised(GroupL1(labels, np.ones(len(np.unique(labels)))), Free(), alpha)
    atoms, samples = data.factor(problem)
    start = np.zeros((problem.n_atoms, problem.n_samples), order="F")
    numbers = np.unique(labels, return_inverse=True)[1].astype(np.int32) + 1

    def peer():
        return spams.fistaFlat(
            samples,
            atoms,
            start,
            loss="square",
            regul="group-lasso-l2",
            lambda1=alpha,
            groups=numbers,
            tol=1e-6,
            max_it=10_000,
            numThreads=1,
        )

    with threadpool_limits(1):
        measured, (codes, other) = race(
            lambda: encode(problem, formulation), peer, repeats, at_least=0.0
        )
    value = objective(problem, formulation, codes)
    facts = {"objective difference": value - objective(problem, formulation, other.T)}
    return Row("structured", f"group, {name}, alpha {alpha}", "spams.fistaFlat", 1, measured, facts)


def simplex(name, problem, repeats):
    formulation = Penalised(NoPrior(), Simplex())
    atoms, samples = data.factor(problem)
    with threadpool_limits(1):
        measured, (codes, other) = race(
            lambda: encode(problem, formulation),
            lambda: spams.decompSimplex(samples, atoms, computeXtX=True, numThreads=1),
            repeats,
            at_least=0.0,
        )
    value = objective(problem, formulation, codes)
    facts = {"objective difference": value - objective(problem, formulation, other.T.toarray())}
    return Row("structured", f"simplex, {name}", "spams.decompSimplex", 1, measured, facts)


def local_coordinates(name, atoms, queries, alpha=0.1):
    """Mlpack codes in input space and without the sum constraint: linear kernel, same prior."""
    settings = {"atoms": len(atoms), "lambda_": 2 * alpha, "max_iterations": 1}
    trained = mlpack.local_coordinate_coding(
        training=np.vstack([atoms, queries[:1]]), initial_dictionary=atoms, **settings
    )
    atoms = np.asarray(trained["dictionary"])
    problem = CodingProblem(
        np.einsum("ij,ij->i", queries, queries), queries @ atoms.T, atoms @ atoms.T
    )
    formulation = Penalised(LocalCoordinate(), Free(), alpha)
    with threadpool_limits(1):
        measured, (codes, answer) = race(
            lambda: encode(problem, formulation),
            lambda: mlpack.local_coordinate_coding(
                input_model=trained["output_model"], test=queries
            ),
            repeats=2,
            at_least=0.0,
        )
    other = np.asarray(answer["codes"])
    value = objective(problem, formulation, codes)
    facts = {"objective difference": value - objective(problem, formulation, other)}
    return Row("structured", f"LCC, {name}", "mlpack", 1, measured, facts)
