"""The solver for Gram matrices with a term of low rank, against the Gram matrices written out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from helpers import cases
from helpers.cases import EACH_CONSTRAINT
from helpers.supervised import sparse_codes
from kernelcoding import constraints, priors
from kernelcoding.codes import dense
from kernelcoding.formulations import Penalised
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers import active_set, low_rank
from kernelcoding.solvers.low_rank import Scores
from kernelcoding.solvers.result import Options

N_CLASSES = 3


def random_scores(rng, problem, n_centres=9, etas=None):
    n, n_atoms = problem.cross.shape
    return Scores(
        rng.normal(size=(n, n_centres)),
        rng.normal(size=(n_centres, N_CLASSES)),
        sparse.csr_array(sparse_codes(rng, n_centres, n_atoms, cover=False)),
        rng.normal(size=(n, N_CLASSES)),
        rng.uniform(0.1, 2.0, size=n) if etas is None else etas,
    )


def responses_of(scores, row):
    """B of one row, every centre added up."""
    return sum(
        k * np.outer(code, weights)
        for k, code, weights in zip(
            scores.similarity[row], dense(scores.centres), scores.coefficients, strict=True
        )
    )


def explicit(problem, scores, row):
    """The problem of one row with its Gram matrix formed, up to a constant."""
    B, eta = responses_of(scores, row), scores.etas[row]
    return CodingProblem(
        problem.self_similarity[row : row + 1],
        problem.cross[row : row + 1] + eta * (B @ scores.targets[row]),
        problem.gram + eta * B @ B.T,
    )


def row_of(penalty, row):
    return replace(
        penalty,
        l1=penalty.l1[row % len(penalty.l1)][None],
        ridge=penalty.ridge[row % len(penalty.ridge)][None],
    )


def value(problem, penalty, code):
    return (
        0.5 * code @ problem.gram @ code
        - problem.cross[0] @ code
        + penalty.l1[0] @ np.abs(code)
        + 0.5 * penalty.ridge[0] @ code**2
    )


def assert_optimal(problem, formulation, scores, codes, unique=False):
    """Row by row no worse than the active-set method on the Gram matrix of that row."""
    constraint, codes = formulation.constraint, dense(codes)
    if constraint.nonnegative:
        assert codes.min() >= 0.0
    if constraint.sum_to_one:
        assert_allclose(codes.sum(axis=1), 1.0, atol=1e-9)
    whole = formulation.penalty(problem)
    for row, code in enumerate(codes):
        alone, penalty = explicit(problem, scores, row), row_of(whole, row)
        expected = active_set.solve(alone, penalty, constraint, Options(tol=1e-10)).codes[0]
        scale = 1.0 + np.abs(alone.cross).max() * np.abs(expected).sum()
        assert value(alone, penalty, code) <= value(alone, penalty, expected) + 1e-9 * scale
        if unique:
            assert_allclose(code, expected, atol=1e-6)


def solve(problem, formulation, scores, **options):
    given = Options(**{"tol": 1e-9, "sparse_output": True, **options})
    penalty = formulation.penalty(problem)
    return low_rank.solve(problem, penalty, formulation.constraint, given, scores)


LASSOS = {
    "L1": priors.L1(),
    "weighted": cases.PRIORS["WeightedL1"],
    "elastic net": priors.ElasticNet(0.5),
    "LCC": priors.LocalCoordinate(),
}


@EACH_CONSTRAINT
@pytest.mark.parametrize("prior", LASSOS.values(), ids=LASSOS.keys())
@pytest.mark.parametrize("name", cases.PROBLEMS)
def test_low_rank_terms_are_solved_like_the_gram_matrix_they_make(name, prior, constraint, rng):
    problem = cases.problem(name)
    formulation, scores = Penalised(prior, constraint, 0.05), random_scores(rng, problem)
    result = solve(problem, formulation, scores)
    assert result.converged.all()
    assert result.n_iter.shape == (problem.n_samples,)
    assert_optimal(problem, formulation, scores, result.codes, unique=name == "regular")
    assert_allclose(result.scores, scores.values(result.codes), atol=1e-10)


@EACH_CONSTRAINT
@pytest.mark.parametrize("name", ["gaussian", "duplicates"])
def test_starts_change_the_time_not_the_answer(name, constraint, rng):
    problem = cases.problem(name)
    formulation, scores = Penalised(priors.L1(), constraint, 0.05), random_scores(rng, problem)
    cold = solve(problem, formulation, scores)
    again = solve(problem, formulation, scores, start=cold.codes)
    assert again.n_iter.sum() < cold.n_iter.sum()
    other = solve(problem, formulation, random_scores(rng, problem)).codes
    for start in (cold.codes, other, other.toarray()):
        result = solve(problem, formulation, scores, start=start)
        assert result.converged.all()
        assert_optimal(problem, formulation, scores, result.codes)


@pytest.mark.parametrize("passes", [1, None])
def test_scores_of_the_start_may_be_known(passes, rng):
    problem = cases.gaussian_problem(rng, n_samples=6, n_atoms=80)
    penalty = Penalised(priors.L1(), constraints.Free(), 0.05).penalty(problem)
    scores = random_scores(rng, problem)
    start = sparse_codes(rng, problem.n_samples, problem.n_atoms, cover=False)
    given = Options(tol=1e-9, start=start)

    def coded(at_start):
        known = replace(scores, at_start=at_start)
        return low_rank.solve(problem, penalty, constraints.Free(), given, known, passes)

    told, found = coded(scores.values(start)), coded(None)
    assert_allclose(told.codes, found.codes, atol=1e-12)
    assert_allclose(told.scores, scores.values(found.codes), atol=1e-10)
    if passes == 1:  # they are looked at: wrong ones let wrong atoms in
        assert np.abs(coded(0.0 * scores.targets + 1e3).codes - found.codes).max() > 1e-3


@EACH_CONSTRAINT
def test_without_weight_scores_do_not_matter(constraint, rng):
    problem = cases.problem("regular")
    formulation = Penalised(priors.L1(), constraint, 0.05)
    scores = random_scores(rng, problem, etas=np.zeros(problem.n_samples))
    plain = cases.solve(problem, formulation, tol=1e-9).codes
    assert formulation.solver is active_set.solve
    assert_allclose(solve(problem, formulation, scores).codes.toarray(), plain, atol=1e-9)


@pytest.mark.parametrize("n_atoms", [1, 2, 200])
@pytest.mark.parametrize("alpha", [1e-4, 0.1, 1e3])
def test_few_and_many_atoms_dense_and_empty_codes(n_atoms, alpha, rng):
    problem = cases.linear_problem(rng, 2 * n_atoms + 3, n_samples=4, n_atoms=max(n_atoms, 2))
    problem = CodingProblem(
        problem.self_similarity, problem.cross[:, :n_atoms], problem.gram[:n_atoms, :n_atoms]
    )
    for constraint in cases.CONSTRAINTS.values():
        formulation = Penalised(priors.L1(), constraint, alpha)
        scores = random_scores(rng, problem)
        result = solve(problem, formulation, scores)
        assert result.converged.all()
        assert_optimal(problem, formulation, scores, result.codes, unique=True)
        if alpha == 1e3 and not constraint.sum_to_one:
            assert result.codes.nnz == 0


def test_rows_do_not_depend_on_the_batch_nor_on_threads(rng):
    problem = cases.gaussian_problem(rng, n_samples=700, n_atoms=20)
    formulation = Penalised(priors.L1(), constraints.Free(), 0.05)
    scores = random_scores(rng, problem)
    codes = solve(problem, formulation, scores, n_jobs=1).codes
    two = solve(problem, formulation, scores, n_jobs=2).codes
    # Products of blocks of another size may round differently.
    assert_allclose(two.toarray(), codes.toarray(), atol=1e-10)
    for row in (0, 350, 699):
        rows = slice(row, row + 1)
        alone = replace(
            scores, similarity=scores.similarity[rows], targets=scores.targets[rows],
            etas=scores.etas[rows],
        )  # fmt: skip
        single = solve(problem.take(rows), formulation, alone).codes
        assert_allclose(single.toarray(), codes[rows].toarray(), atol=1e-10)


def test_scores_of_codes_and_what_atoms_add_to_them(rng):
    problem = cases.problem("gaussian")
    scores = random_scores(rng, problem).prepared()
    codes = sparse_codes(rng, problem.n_samples, problem.n_atoms, cover=False)
    residual = rng.normal(size=scores.targets.shape)
    values, pulled = scores.values(sparse.csr_array(codes)), scores.pulled_back(residual)
    for row in range(problem.n_samples):
        B = responses_of(scores, row)
        assert_allclose(values[row], codes[row] @ B, atol=1e-12)
        assert_allclose(pulled[row], scores.etas[row] * B @ residual[row], atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_atoms=st.integers(1, 20),
    rank=st.integers(1, 25),
    n_centres=st.integers(1, 12),
    log_alpha=st.floats(-4, 1),
    log_eta=st.floats(-4, 3),
    constraint=st.sampled_from(list(cases.CONSTRAINTS.values())),
)
def test_low_rank_terms_of_any_shape(
    seed, n_atoms, rank, n_centres, log_alpha, log_eta, constraint
):
    rng = np.random.default_rng(seed)
    atoms, samples = rng.normal(size=(n_atoms, rank)), rng.normal(size=(2, rank))
    problem = CodingProblem((samples**2).sum(axis=1), samples @ atoms.T, atoms @ atoms.T)
    formulation = Penalised(priors.L1(), constraint, 10.0**log_alpha)
    scores = random_scores(rng, problem, n_centres, np.full(2, 10.0**log_eta))
    codes = solve(problem, formulation, scores, tol=1e-8).codes
    assert_optimal(problem, formulation, scores, codes)


@pytest.mark.parametrize("far", [0.0, 1e2, 1e3])
def test_codes_that_sum_to_one_do_not_notice_the_origin(far, rng):
    # Some atoms have no price: what is small there is measured by similarities, which are huge.
    atoms = rng.normal(size=(12, 6))
    samples = 0.5 * (atoms[:10] + atoms[2:]) + 0.1 * rng.normal(size=(10, 6))
    atoms, samples = far + atoms, far + samples
    problem = CodingProblem((samples**2).sum(axis=1), samples @ atoms.T, atoms @ atoms.T)
    scores = random_scores(rng, problem)
    formulation = Penalised(priors.WeightedL1(np.arange(12) % 2), constraints.Simplex(), 0.01)
    found = formulation.solve_with_scores(problem, Options(), scores)
    assert found.converged.all()
    whole = formulation.penalty(problem)
    for row, code in enumerate(dense(found.codes)):
        alone, penalty = explicit(problem, scores, row), row_of(whole, row)
        best = formulation.solver(alone, penalty, formulation.constraint, Options(tol=1e-12))
        lost = value(alone, penalty, code) - value(alone, penalty, best.codes[0])
        assert lost <= 1e-8
