"""What every constraint must satisfy: projections are nearest points, and they are members."""

import pickle
from itertools import combinations

import cvxpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from kernelcoding import constraints
from kernelcoding.constraints import AtMost, Free, NonNegative, OneAtom, Simplex, SumToOne
from reference import convex

CONVEX = [Free(), NonNegative(), SumToOne(), Simplex()]
EVERY = [*CONVEX, OneAtom(), AtMost(2), AtMost(3, "ols")]


def test_the_list_is_complete():
    every = {getattr(constraints, name) for name in constraints.__all__} - {constraints.Constraint}
    assert {type(constraint) for constraint in EVERY} == every
    assert {type(constraint) for constraint in CONVEX} == {kind for kind in every if kind.is_convex}


@pytest.mark.parametrize("constraint", CONVEX, ids=repr)
def test_projection_is_the_nearest_point(constraint, rng):
    points = 2.0 * rng.normal(size=(6, 7))
    found = constraint.project(points)
    for point, nearest in zip(points, found, strict=True):
        code = cvxpy.Variable(7)
        distance = cvxpy.sum_squares(code - point)
        limits = convex.limits(constraint, code)
        convex.solve_tightly(cvxpy.Problem(cvxpy.Minimize(distance), limits))
        assert_allclose(nearest, code.value, atol=1e-6)


@pytest.mark.parametrize("constraint", [OneAtom(), AtMost(1), AtMost(2), AtMost(9)], ids=repr)
def test_projection_on_a_union_is_the_nearest_of_all(constraint, rng):
    points = rng.normal(size=(8, 5))
    found = constraint.project(points)
    for point, nearest in zip(points, found, strict=True):
        if isinstance(constraint, OneAtom):
            candidates = list(np.eye(5))
        else:
            supports = combinations(range(5), min(constraint.n_nonzero, 5))
            candidates = [np.where(np.isin(range(5), s), point, 0.0) for s in supports]
        best = min(np.sum((point - candidate) ** 2) for candidate in candidates)
        assert_allclose(np.sum((point - nearest) ** 2), best, atol=1e-14)


@pytest.mark.parametrize("constraint", EVERY, ids=repr)
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_projections_are_allowed_and_stay(constraint, size, rng):
    points = size * rng.normal(size=(20, 6))
    before = points.copy()
    projected = constraint.project(points)
    assert_array_equal(points, before)
    assert np.all(constraint.contains(projected))
    assert_allclose(constraint.project(projected), projected, atol=1e-9 * max(1.0, size))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8))
def test_simplex_projection_of_anything(point):
    point = np.array(point)[None]
    code = Simplex().project(point)[0]
    assert code.min() >= 0.0
    assert_allclose(code.sum(), 1.0, atol=1e-9)
    # Where the code is positive the same amount was taken off, elsewhere at least that much.
    taken = point[0] - code
    assert np.ptp(taken[code > 0]) <= 1e-9
    assert np.all(taken[code == 0] <= taken[code > 0].max() + 1e-9)


@pytest.mark.parametrize("constraint", CONVEX, ids=repr)
def test_membership_is_convex_and_has_a_tolerance(constraint, rng):
    first, second = constraint.project(rng.normal(size=(2, 10, 6)).reshape(20, 6)).reshape(2, 10, 6)
    for weight in (0.0, 0.3, 1.0):
        assert np.all(constraint.contains(weight * first + (1 - weight) * second))
    assert np.all(constraint.contains(first + 1e-10))
    if constraint.nonnegative:
        below = first.copy()
        below[:, 0] = -1e-6
        assert not np.any(constraint.contains(below))
        assert np.all(NonNegative().contains(below, tolerance=1e-5))
    if constraint.sum_to_one:
        assert not np.any(constraint.contains(first * (1 + 1e-6)))
        assert np.all(constraint.contains(first * (1 + 1e-6), tolerance=1e-5))


@pytest.mark.parametrize("constraint", EVERY, ids=repr)
@pytest.mark.parametrize("bad", [[np.nan, 0.0], [np.inf, 0.0], [np.inf, -np.inf], [-np.inf, 1.0]])
def test_what_is_not_a_number_is_nowhere(constraint, bad):
    codes = np.array([[1.0, 0.0, 0.0], [*bad, 0.0]])
    assert_array_equal(constraint.contains(codes), [True, False])


def test_one_atom_means_one():
    codes = np.array([[0, 1, 0], [0, 0, 0], [1, 1, 0], [0.5, 0.5, 0], [0, 2, 0], [0, -1, 0]], float)
    assert_array_equal(OneAtom().contains(codes), [True] + [False] * 5)


def test_at_most_counts_what_is_not_zero():
    codes = np.array([[1e-300, 1, 0], [1e-300, 1, 1], [0, 0, 0]])
    assert_array_equal(AtMost(2).contains(codes), [True, False, True])


@pytest.mark.parametrize("constraint", EVERY, ids=repr)
def test_constraints_are_scikit_learn_components(constraint, rng):
    points = rng.normal(size=(4, 6))
    parameters = constraint.get_params()
    for copy in (
        clone(constraint),
        pickle.loads(pickle.dumps(constraint)),
        type(constraint)(**parameters),
    ):
        assert copy is not constraint
        assert copy.get_params() == parameters
        assert_array_equal(copy.project(points), constraint.project(points))
    assert repr(constraint).startswith(type(constraint).__name__ + "(")


def test_the_base_projects_nowhere():
    with pytest.raises(NotImplementedError):
        constraints.Constraint().project(np.zeros((1, 2)))
