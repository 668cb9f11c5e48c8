"""What every formulation must satisfy: its facts, its judge, its values and its derivatives."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers import cases
from helpers.cases import LABELS, WEIGHTS, solve
from helpers.every_formulation import EVERY_FORMULATION, FORMULATIONS
from kernelcoding.codes import dense, is_csr
from kernelcoding.constraints import OneAtom, Simplex
from kernelcoding.formulations import NeighbourFit, OnCandidates, Penalised, SoftAssignment
from kernelcoding.formulations.penalised import TABLE
from kernelcoding.formulations.scored import augmented
from kernelcoding.priors import (
    GroupL1,
    NoPrior,
    Prior,
    SparseGroupL1,
    WeightedL1,
)
from kernelcoding.problem import CodingProblem
from reference.formulations import objective

SOFT = [name for name, each in FORMULATIONS.items() if isinstance(each, SoftAssignment)]
TIGHT = {"tol": 1e-10, "max_iter": 100_000}
SOME = np.array([9, 2, 4, 0, 13, 5, 7, 12])  # in no order; no atom of the group "b" is left


def coded(problem, formulation):
    """Codes in the form in which the formulation makes them."""
    return solve(problem, formulation, **TIGHT, sparse_output=formulation.is_sparse).codes


def with_alpha(formulation, alpha):
    if isinstance(formulation, OnCandidates):
        return replace(formulation, formulation=with_alpha(formulation.formulation, alpha))
    return replace(formulation, alpha=alpha)


def is_own(formulation):
    """Whether a user wrote the prior: there is a residual then, no bound."""
    return isinstance(formulation, Penalised) and not isinstance(formulation.prior, Prior)


def is_judged(formulation):
    """Whether anything is known of a code's distance from the optimum; else it is infinite."""
    unknown = is_own(formulation) and formulation.nonnegative
    return not unknown or isinstance(formulation.constraint, OneAtom)


def with_labels(rng):
    """A problem whose distances are not those that priors look at."""
    problem = cases.problem("regular")
    return augmented(problem, rng.normal(size=(14, 2)), rng.normal(size=(3, 2)), 0.7)


def test_the_list_is_complete():
    penalised = [each for each in FORMULATIONS.values() if isinstance(each, Penalised)]
    pairs = {(each.kind, type(each.constraint)) for each in penalised}
    assert pairs == {(kind, constraint) for kind, row in TABLE.items() for constraint in row}


# Facts -------------------------------------------------------------------------------------


@EVERY_FORMULATION
def test_codes_have_the_signs_that_are_promised(formulation):
    problems = [cases.problem(name) for name in cases.PROBLEMS]
    if isinstance(formulation, Penalised | OnCandidates):
        formulation = with_alpha(formulation, 0.01)  # small, so that nothing hides a sign
    lowest = min(dense(coded(problem, formulation)).min() for problem in problems)
    assert (lowest >= 0.0) == formulation.nonnegative


@EVERY_FORMULATION
def test_sparse_codes_are_kept_by_their_nonzeros(formulation):
    problem = cases.problem("regular")
    codes = coded(problem, formulation)
    assert is_csr(codes) == formulation.is_sparse
    assert_array_equal(dense(codes), solve(problem, formulation, **TIGHT).codes)
    if formulation.is_sparse:
        assert codes.has_canonical_format
        assert 0 < codes.nnz < codes.shape[0] * codes.shape[1]
        assert np.all(codes.data != 0.0)
    elif not is_own(formulation):  # nobody knows whether codes of these are sparse
        assert np.all(codes != 0.0)


@EVERY_FORMULATION
def test_multiples_of_codes_are_allowed_in_a_cone_only(formulation):
    problem = cases.problem("regular")
    codes = coded(problem, formulation)
    if not is_judged(formulation):
        for factor in (0.5, 2.0):
            allowed = formulation.constraint.contains(factor * codes)
            assert_array_equal(allowed, [formulation.is_cone] * 3)
        return
    assert np.all(np.isfinite(formulation.gap(problem, codes)))
    for factor in (0.5, 2.0):
        assert_array_equal(
            np.isfinite(formulation.gap(problem, factor * codes)), [formulation.is_cone] * 3
        )


@EVERY_FORMULATION
def test_what_minimises_neither_chooses_greedily_nor_follows(formulation):
    kinds = formulation.is_minimiser, formulation.is_greedy, formulation.follows_atoms
    assert sum(kinds) <= 1


@pytest.mark.parametrize("name", SOFT)
def test_codes_that_follow_their_atoms_do_not_jump(name, rng):
    samples, here, there = 0.4 * rng.normal(size=(3, 3, 5))
    path = []
    for share in np.linspace(0.0, 1.0, 1000):
        atoms = np.vstack([here, -here]) * (1.0 - share) + np.vstack([there, -there]) * share
        problem = CodingProblem((samples**2).sum(1), samples @ atoms.T, atoms @ atoms.T)
        path.append(solve(problem, FORMULATIONS[name]).codes)
    largest = np.abs(np.diff(path, axis=0)).max()
    assert (largest < 0.01) == FORMULATIONS[name].follows_atoms


@pytest.mark.filterwarnings("ignore:The l1 norm of every code on the simplex")
@EVERY_FORMULATION
def test_a_dictionary_of_another_size_is_refused_where_atoms_are_known(formulation):
    formulation.check(14)
    if isinstance(getattr(formulation, "prior", None), WeightedL1 | GroupL1 | SparseGroupL1):
        with pytest.raises(ValueError, match="expected shape"):
            formulation.check(15)
    elif getattr(formulation, "n_neighbors", None) is not None:
        with pytest.warns(UserWarning, match=r"n_neighbors=4 exceeds the number of atoms \(3\)"):
            formulation.check(3)
    else:
        formulation.check(15)


# Values ------------------------------------------------------------------------------------


def other_codes(formulation, codes, rng):
    """Allowed codes near and far from these."""
    for size in (1e-3, 1.0):
        noise = size * rng.normal(size=codes.shape)
        if isinstance(formulation, OnCandidates):
            yield codes + np.where(codes != 0.0, noise, 0.0)
        elif isinstance(formulation, NeighbourFit):
            used = codes != 0.0
            noise = np.where(used, noise, 0.0)
            yield codes + noise - used * noise.sum(axis=1, keepdims=True) / used.sum(axis=1)[0]
        else:
            yield formulation.constraint.project(codes + noise)


def could_be_better(formulation, problem, codes):
    """Which codes are known not to minimise their objective."""
    if not isinstance(formulation, SoftAssignment):
        return formulation.gap(problem, codes) > 1e-3
    found = []
    for row, code in enumerate(dense(codes)):  # soft: as good as can be on the same atoms
        used = np.flatnonzero(code)
        part = problem.take(slice(row, row + 1)).for_atoms(used)
        best = solve(part, Penalised(NoPrior(), Simplex())).codes
        found.append(part.squared_error(best)[0] < part.squared_error(code[None, used])[0] - 1e-3)
    return np.array(found)


@pytest.mark.parametrize("labels", [False, True])
@EVERY_FORMULATION
def test_minimisers_are_certified_and_others_are_not(formulation, labels, rng):
    problem = with_labels(rng) if labels else cases.problem("regular")
    codes = coded(problem, formulation)
    gaps = formulation.gap(problem, codes)
    if not formulation.is_minimiser:
        assert np.all(could_be_better(formulation, problem, codes))
        return
    assert np.all(gaps <= 1e-8 if is_judged(formulation) else gaps == np.inf)
    least = objective(formulation, problem, dense(codes))
    for other in other_codes(formulation, dense(codes), rng):
        rise = objective(formulation, problem, other) - least
        assert np.all(rise >= (-1e-9 if is_judged(formulation) else -1e-7))
        if not is_own(formulation):
            assert np.all(formulation.gap(problem, other) >= rise - 1e-9)


@pytest.mark.parametrize("name", SOFT)
def test_soft_codes_are_judged_by_their_formula(name):
    formulation = FORMULATIONS[name]
    problem = cases.problem("regular")
    codes = coded(problem, formulation)
    assert np.all(formulation.gap(problem, codes) <= 1e-12)
    uneven = dense(codes) ** 2
    uneven /= uneven.sum(axis=1, keepdims=True)
    assert np.all(formulation.gap(problem, uneven) > 1e-3)


@pytest.mark.parametrize("labels", [False, True])
@EVERY_FORMULATION
def test_the_objective_is_half_the_error_and_the_value(formulation, labels, rng):
    problem = with_labels(rng) if labels else cases.problem("regular")
    codes = coded(problem, formulation)
    expected = objective(formulation, problem, dense(codes))
    found = formulation.value(problem, codes) + 0.5 * problem.squared_error(codes)
    assert_allclose(found, expected, rtol=1e-12)
    assert_allclose(formulation.value(problem, dense(codes)), formulation.value(problem, codes))
    if isinstance(formulation, Penalised):
        assert_allclose(formulation.objective(problem, codes), expected, rtol=1e-12)


@EVERY_FORMULATION
def test_codes_vanish_at_the_critical_weight(formulation):
    problem = cases.problem("regular")
    critical = formulation.critical_alpha(problem)
    told = formulation.formulation if isinstance(formulation, OnCandidates) else formulation
    built_in = isinstance(getattr(told, "prior", None), Prior)
    assert (critical is not None) == (
        formulation.is_cone
        and built_in
        and not formulation.is_greedy
        and not isinstance(told.prior, NoPrior)
    )
    if critical is None:
        return
    assert critical.shape == (3,)
    for row, alpha in enumerate(critical):
        if np.isfinite(alpha):
            alone = problem.take(slice(row, row + 1))
            assert not solve(alone, with_alpha(formulation, 1.0001 * alpha)).codes.any()
            assert solve(alone, with_alpha(formulation, 0.9999 * alpha)).codes.any()
        else:
            assert solve(problem, with_alpha(formulation, 1e4)).codes[row].any()


# Derivatives -------------------------------------------------------------------------------


@EVERY_FORMULATION
def test_sensitivity_is_the_derivative_of_the_objective(formulation, rng):
    # Along random directions, and codes follow: at minimisers that makes no difference.
    problem, step = cases.problem("regular"), 1e-5
    arrays = {name: getattr(problem, name) for name in ("self_similarity", "cross", "gram")}
    codes = coded(problem, formulation)
    found = formulation.sensitivity(problem, codes)

    def value(**changed):
        moved = CodingProblem(**{**arrays, **changed})
        return objective(formulation, moved, dense(coded(moved, formulation))).sum()

    assert_allclose(found.value, value(), rtol=1e-10)
    for name, array in arrays.items():
        derivative = getattr(found, name)
        assert derivative.shape == array.shape
        for _ in range(4):
            direction = rng.normal(size=array.shape)
            if name == "gram":
                direction = direction + direction.T
            ahead, behind = (value(**{name: array + s * direction}) for s in (step, -step))
            slope = (ahead - behind) / (2.0 * step)
            assert_allclose(np.sum(derivative * direction), slope, rtol=1e-5, atol=1e-6)


@EVERY_FORMULATION
def test_distance_weights_are_twice_the_derivatives_of_the_value(formulation, rng):
    problem, step = cases.problem("regular"), 1e-5
    codes = coded(problem, formulation)
    weights = formulation.distance_weights(problem, codes)
    weights = np.zeros((3, 14)) if weights is None else dense(weights)
    for _ in range(4):
        change = rng.normal(size=(3, 14))  # of squared distances: of -2 k
        ahead, behind = (
            CodingProblem(problem.self_similarity, problem.cross - 0.5 * s * change, problem.gram)
            for s in (step, -step)
        )
        slope = formulation.value(ahead, codes) - formulation.value(behind, codes)
        expected = 0.5 * (weights * change).sum(axis=1)
        assert_allclose(slope / (2.0 * step), expected, rtol=1e-5, atol=1e-8)


# Some of the atoms -------------------------------------------------------------------------


def fresh(formulation, atoms):
    """The formulation as one would write it for these atoms."""
    match getattr(formulation, "prior", None):
        case WeightedL1():
            prior = WeightedL1(WEIGHTS[atoms])
        case (GroupL1() | SparseGroupL1()) as known:
            named = dict(zip("abcde", known.weights, strict=True)) if known.weights else None
            left = sorted(set(LABELS[atoms]))
            weights = None if named is None else [named[name] for name in left]
            prior = type(known)(
                **{**known.get_params(), "groups": LABELS[atoms], "weights": weights}
            )
        case _:
            return formulation
    return replace(formulation, prior=prior)


def restricted(problem):
    """The problem for some of the atoms, and what priors see of it, written out."""
    geometry = None if problem.geometry is None else restricted(problem.geometry)
    gram = problem.gram[SOME][:, SOME]
    return CodingProblem(problem.self_similarity, problem.cross[:, SOME], gram, geometry=geometry)


@EVERY_FORMULATION
def test_for_all_atoms_it_is_the_same(formulation):
    problem, every = cases.problem("regular"), np.arange(14)
    same = formulation.for_atoms(every)
    assert type(same) is type(formulation)
    codes = solve(problem, formulation).codes
    assert_array_equal(solve(problem.for_atoms(every), same).codes, codes)
    assert_array_equal(same.value(problem, codes), formulation.value(problem, codes))
    assert_array_equal(same.gap(problem, codes), formulation.gap(problem, codes))


@pytest.mark.filterwarnings("ignore:The l1 norm of every code on the simplex")
@pytest.mark.parametrize("labels", [False, True])
@EVERY_FORMULATION
def test_for_some_atoms_it_is_what_one_would_write_for_them(formulation, labels, rng):
    problem = with_labels(rng) if labels else cases.problem("regular")
    part, some = problem.for_atoms(SOME), formulation.for_atoms(SOME)
    by_hand, written = restricted(problem), fresh(formulation, SOME)
    some.check(len(SOME))
    codes = solve(part, some).codes
    assert_allclose(codes, solve(by_hand, written).codes, atol=1e-12)
    assert_allclose(some.value(part, codes), written.value(by_hand, codes), atol=1e-12)
    assert_allclose(some.gap(part, codes), written.gap(by_hand, codes), atol=1e-12)
