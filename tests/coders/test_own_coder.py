"""A coder of one's own, as the documentation writes it, wherever a coder goes."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import kernelcoding as kc
from helpers.learning import digits
from kernelcoding.constraints import Free
from kernelcoding.formulations import BaseFormulation
from kernelcoding.priors import Ridge
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers.result import Options

PAGE = Path(__file__).parents[2] / "docs" / "own-coder.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
WRITTEN = {}
exec(BLOCKS[0], WRITTEN)
OwnCoder = WRITTEN["KernelRidgeCoder"]
X, Y = digits(90, labels=True)
Y = Y % 3
OWN = OwnCoder(alpha=0.1)
SAME = kc.KernelCoder(prior=Ridge(), constraint=Free(), alpha=0.1)


def test_the_page_runs():
    names = dict(WRITTEN)
    exec(BLOCKS[1], names)
    assert names["codes"].shape == (300, 50)
    assert np.mean(names["by_residuals"] == names["y"][200:]) > 0.9


def test_codes_are_those_of_the_same_formulation():
    own, same = clone(OWN).fit(X[:40]), clone(SAME).fit(X[:40])
    codes = own.transform(X[40:])
    assert_allclose(codes, same.transform(X[40:]), atol=1e-8)
    assert_allclose(own.reconstruction_error(X[40:]), same.reconstruction_error(X[40:]), atol=1e-8)
    assert np.all(own.certify(X[40:], codes) == np.inf)


@pytest.mark.parametrize("changes", [{}, {"n_landmarks": 30}, {"learn_kernel": True}], ids=repr)
def test_dictionaries_are_those_of_the_same_formulation(changes):
    own, same = (
        kc.KernelDictionaryLearning(coder, n_atoms=8, max_iter=4, **changes).fit(X)
        for coder in (OWN, SAME)
    )
    assert_allclose(own.objective_history_, same.objective_history_, rtol=1e-5)
    assert_allclose(own.transform(X[:9]), same.transform(X[:9]), atol=1e-4)


def test_batches_are_learned_from():
    own, same = (
        kc.KernelDictionaryLearning(coder, n_atoms=8).partial_fit(X[:45]).partial_fit(X[45:])
        for coder in (OWN, SAME)
    )
    assert_allclose(own.objective_history_, same.objective_history_, rtol=1e-6)


@pytest.mark.parametrize("classifier", ["linear", "bilinear", "max-margin"])
def test_supervised_coding_is_that_of_the_same_formulation(classifier):
    settings = {"n_atoms": 9, "max_iter": 2, "classifier": classifier}
    own, same = (kc.SupervisedKernelCoding(c, **settings).fit(X, Y) for c in (OWN, SAME))
    assert_allclose(own.objective_history_, same.objective_history_, rtol=1e-5)
    assert_array_equal(own.predict(X), same.predict(X))


def test_the_residual_rule_is_that_of_the_same_formulation():
    own, same = (kc.ResidualClassifier(c).fit(X[:60], Y[:60]) for c in (OWN, SAME))
    assert_allclose(own.decision_function(X[60:]), same.decision_function(X[60:]), atol=1e-7)


def test_a_grid_search_reaches_its_parameters():
    pipeline = make_pipeline(OwnCoder(), KNeighborsClassifier(1))
    grid = {"kernelridgecoder__alpha": [1e-3, 1.0], "kernelridgecoder__kernel": ["rbf", "linear"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, Y)
    assert search.best_score_ > 0.8


def test_codes_of_another_shape_are_refused():
    class Wrong(BaseFormulation):
        def code(self, problem):
            return problem.cross[:, :1]

    problem = CodingProblem(np.ones(2), np.ones((2, 3)), np.eye(3))
    with pytest.raises(ValueError, match=r"Wrong.code must return .*\(2, 3\), got \(2, 1\)"):
        Wrong().solve(problem, Options())
