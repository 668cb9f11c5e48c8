"""The seam: what a coding problem answers, and what it computes only when it is asked."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelcoding.dictionary import CombinationDictionary, PointDictionary
from kernelcoding.gram import GramFacts
from kernelcoding.kernels import Gaussian, Linear
from kernelcoding.problem import CodingProblem


@pytest.fixture
def points(rng):
    return rng.normal(size=(9, 4)), rng.normal(size=(5, 4))


@pytest.fixture
def problem(points):
    atoms, samples = points
    own = np.einsum("ij,ij->i", samples, samples)
    return CodingProblem(own, samples @ atoms.T, atoms @ atoms.T)


def test_errors_and_distances_are_those_of_explicit_vectors(problem, points, rng):
    atoms, samples = points
    codes = rng.normal(size=(5, 9))
    residuals = samples - codes @ atoms
    assert_allclose(problem.squared_error(codes), (residuals**2).sum(axis=1))
    assert_allclose(problem.correlation(codes), residuals @ atoms.T, atol=1e-12)
    distances = ((samples[:, None] - atoms[None]) ** 2).sum(axis=2)
    assert_allclose(problem.squared_distances(), distances)
    assert_allclose(problem.single_atom_errors(), distances)


def test_some_samples_and_some_atoms(problem):
    rows, atoms = np.array([3, 0]), np.array([6, 1, 2])
    assert_array_equal(problem.take(rows).cross, problem.cross[rows])
    assert problem.take(rows).facts is problem.facts
    few = problem.for_atoms(atoms)
    assert_array_equal(few.cross, problem.cross[:, atoms])
    assert_array_equal(few.gram, problem.gram[np.ix_(atoms, atoms)])
    turned = np.roll(np.arange(9), 1)  # as many atoms as there are, in another order
    assert_array_equal(problem.for_atoms(turned).cross, problem.cross[:, turned])
    assert problem.for_atoms(np.arange(9)) is problem


def test_geometry_decides_who_is_near_but_not_what_an_atom_explains(problem):
    other = CodingProblem(
        problem.self_similarity + 1.0, problem.cross[:, ::-1].copy(), problem.gram, None, problem
    )
    near, expected = other.nearest(3), problem.nearest(3)
    assert_array_equal(near.indices, expected.indices)
    assert_allclose(near.cross, np.take_along_axis(other.cross, near.indices, axis=1))
    distances = np.take_along_axis(problem.squared_distances(), near.indices, axis=1)
    assert_allclose(near.trace, distances.sum(axis=1))
    assert_allclose(other.squared_distances(), problem.squared_distances())
    assert not np.allclose(other.single_atom_errors(), problem.single_atom_errors())
    assert_array_equal(other.take(slice(1, 3)).nearest(3).indices, near.indices[1:3])
    some = other.for_atoms(np.array([0, 4, 5]))
    assert_allclose(some.squared_distances(), problem.squared_distances()[:, [0, 4, 5]])


def test_precision_changes_only_where_it_differs(problem):
    assert problem.astype(np.float64) is problem
    single = problem.astype(np.float32)
    assert single.cross.dtype == single.gram.dtype == np.float32
    assert single.astype(np.float64).gram.dtype == np.float64


def test_shapes_that_do_not_go_together_are_refused(problem):
    with pytest.raises(ValueError, match="do not go with a Gram matrix"):
        CodingProblem(problem.self_similarity, problem.cross[:, :4], problem.gram)


class Counted(Gaussian):
    """Counts the kernel values it computes."""

    counted = 0

    def profile(self, S, *, overwrite=False):
        type(self).counted += np.size(S)
        return super().profile(S, overwrite=overwrite)


def test_near_atoms_are_chosen_before_any_exponential(points):
    atoms, samples = points
    dictionary = PointDictionary(Counted(gamma=0.2), atoms)
    Counted.counted = 0
    problem = dictionary.problem(samples)
    near = problem.nearest(2)
    assert Counted.counted == 5 * 2 + 5  # the neighbours, and each sample with itself
    whole = dictionary.problem(samples).cross
    assert_allclose(near.cross, np.take_along_axis(whole, near.indices, axis=1))
    distances = ((samples[:, None] - atoms[None]) ** 2).sum(axis=2)
    assert_array_equal(near.indices, np.argsort(distances, axis=1)[:, :2])


def test_the_gram_matrix_begins_where_a_cache_line_does(rng):
    points = rng.normal(size=(37, 3))
    memory = np.empty(38 * 37)
    for shift in range(4):
        given = memory[shift : shift + 37 * 37].reshape(37, 37)
        given[...] = points @ points.T
        for facts in (GramFacts(given), GramFacts(given.astype(np.float32))):
            assert facts.double.ctypes.data % 64 == 0
            assert_array_equal(facts.double, facts.gram)
            assert facts.double.flags.c_contiguous
            assert facts.double.flags.writeable
    own = PointDictionary(Gaussian(1.0), points).facts
    assert own.double is own.gram  # once in memory


def test_similarities_are_computed_once(points):
    atoms, samples = points
    problem = PointDictionary(Counted(gamma=0.2), atoms).problem(samples)
    _ = problem.cross, problem.squares
    Counted.counted = 0
    assert problem.cross is problem.cross
    assert problem.nearest(3).indices.shape == (5, 3)
    assert Counted.counted == 0


def test_a_problem_of_combinations_keeps_the_similarities_to_landmarks(points, rng):
    atoms, samples = points
    landmarks = PointDictionary(Linear(), atoms)
    dictionary = CombinationDictionary(landmarks, rng.normal(size=(9, 3)))
    problem = dictionary.problem(samples)
    assert_allclose(problem.similarity, samples @ atoms.T)
    assert_allclose(problem.cross, problem.similarity @ dictionary.weights)
    assert_array_equal(problem.gram, dictionary.gram)
