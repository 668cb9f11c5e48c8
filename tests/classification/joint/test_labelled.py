"""Codes that look at labels minimise the joint objective: compared with cvxpy."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

import kernelcoding as kc
from helpers.learning import world
from helpers.supervised import dense, one_hot, sparse_codes
from kernelcoding import constraints, priors
from kernelcoding.classification.classifiers import BilinearClassifier, LinearClassifier
from kernelcoding.classification.joint.labelled import Labelled, LastScores
from kernelcoding.classification.joint.learner import SupervisedLearner, Supervision
from kernelcoding.classification.labels import Labels
from kernelcoding.classification.rules import RULES, BilinearRule, MaxMarginRule
from kernelcoding.coders.base import options_of
from kernelcoding.dictionary_learning.frames import SampleBlock
from kernelcoding.dictionary_learning.half_steps.coding import problem_of
from kernelcoding.kernels import Polynomial
from kernelcoding.problem import CodingProblem
from reference import convex
from reference.learning import numeric_gradient
from reference.supervised import hinge_loss, joint_value, labelled_code

N_CLASSES = 3

KERNEL = Polynomial(degree=2)
N, N_ATOMS = 12, 6
CODERS = {
    "kSC": kc.KernelSparseCoder(KERNEL, alpha=0.1, tol=1e-10),
    "positive kSC": kc.KernelSparseCoder(KERNEL, alpha=0.1, positive=True, tol=1e-10),
    "group kSC": kc.KernelSparseCoder(KERNEL, alpha=0.1, groups=[0, 0, 1, 1, 2, 2], tol=1e-10),
    "LCC": kc.KernelLCC(KERNEL, alpha=0.1, tol=1e-10),
    "exact LLC": kc.KernelLLC(KERNEL, n_neighbors=None, alpha=0.05),
    "LLC": kc.KernelLLC(KERNEL, n_neighbors=3, regularization=1e-4),
    "strong LLC": kc.KernelLLC(KERNEL, n_neighbors=3, regularization=0.1),
    "ridge": kc.KernelCoder(KERNEL, prior=priors.Ridge(), constraint=constraints.Free()),
    "simplex": kc.KernelCoder(KERNEL, constraint=constraints.Simplex(), alpha=0.1, tol=1e-10),
}
EVERY_CODER = pytest.mark.parametrize("name", CODERS)
BOTH_FORMS = pytest.mark.parametrize("form", ["linear", "bilinear"])
BOTH_FRAMES = pytest.mark.parametrize("frame", ["samples", "landmarks"])


class Setting:
    """Atoms, a classifier and labelled samples, in kernels and in explicit vectors."""

    def __init__(self, name, form, frame, rng, rule=None, etas=(0.3, 1.2)):
        self.world = world(f"quadratic, {frame}", rng, n=N)
        self.frame = self.world.frame
        self.vectors, self.atoms = self.world.unit_vectors(rng, N_ATOMS)
        dictionary = self.frame.dictionary(self.vectors)
        self.coder = clone(CODERS[name]).set_params(atoms=dictionary).fit(np.zeros((1, 3)))
        self.etas = np.resize(etas, N)
        n_centres = self.frame.landmarks.n_atoms
        bias = 0.2 * rng.normal(size=N_CLASSES)
        if form == "linear":
            weights = rng.normal(size=(N_ATOMS, N_CLASSES))
            self.classifier = LinearClassifier(weights, bias, 0.0)
        else:
            centres = sparse_codes(rng, n_centres, N_ATOMS, cover=False)
            self.classifier = BilinearClassifier(
                0.3 * rng.normal(size=(n_centres, N_CLASSES)), sparse.csr_array(centres), bias,
                self.frame.landmarks.facts.double, 1.0, 0.0,
            )  # fmt: skip
        self.rule = rule or RULES[form]()
        targets = one_hot(rng, N, N_CLASSES)
        self.targets = 2.0 * targets - 1.0 if self.rule.signed else targets
        self.formulation = self.coder.formulation()
        self.options = replace(options_of(self.coder), sparse_output=self.formulation.is_sparse)
        (self.block,) = self.frame.blocks(self.vectors)
        self.problem = problem_of(self.block, self.frame.gram(self.vectors))
        self.labelled = Labelled(
            self.formulation, self.rule, self.classifier, self.targets, self.etas,
            self.block.similarity,
        )  # fmt: skip

    def codes(self, start=None):
        return self.labelled.solve(self.problem, replace(self.options, start=start)).codes

    def blind_codes(self):
        """Codes that look at no labels."""
        return self.formulation.solve(self.problem, self.options).codes

    @property
    def constraint(self):
        """Local fits sum to one."""
        return getattr(self.formulation, "constraint", constraints.SumToOne())

    def parts(self, row):
        """What the reference needs of one sample, and the atoms it may use."""
        own, cross, gram = self.explicit(row)
        terms, atoms = self.terms(row)
        target = self.targets[row] - self.classifier.bias
        return (
            own, cross[atoms], gram[np.ix_(atoms, atoms)], terms, self.responses(row)[atoms],
            target, self.etas[row],
        ), atoms  # fmt: skip

    def responses(self, row):
        """What the scores of a sample gain by each atom, from explicit vectors."""
        if isinstance(self.classifier, LinearClassifier):
            return self.classifier.weights
        sample = self.world.samples[row]
        return sum(
            (sample @ z) * np.outer(code, weights)
            for z, code, weights in zip(
                self.world.landmarks, dense(self.classifier.centres),
                self.classifier.coefficients, strict=True,
            )
        )  # fmt: skip

    def explicit(self, row):
        """Self-similarity, cross and Gram, from explicit vectors."""
        sample = self.world.samples[row]
        own = sample @ sample + self.world.lost[row]
        return own, self.atoms @ sample, self.atoms @ self.atoms.T

    def terms(self, row):
        """The prior of one sample, spelled out, and the atoms it may use."""
        own, cross, gram = self.explicit(row)
        alone = CodingProblem(np.array([own]), cross[None], gram)
        if isinstance(self.coder, kc.KernelLLC) and self.coder.n_neighbors is not None:
            distances = own - 2.0 * cross + np.diag(gram)
            near = np.sort(np.argsort(distances)[: self.coder.n_neighbors])
            ridge = 0.5 * self.coder.regularization * distances[near].sum()
            nothing = np.zeros(len(near))
            return convex.Terms(nothing, nothing + ridge, nothing.astype(int), np.zeros(1)), near
        terms = convex.terms(self.formulation.prior, alone, 0, self.formulation.alpha)
        return terms, np.arange(N_ATOMS)


@EVERY_CODER
@BOTH_FORMS
@BOTH_FRAMES
def test_labelled_codes_minimise_the_joint_objective(name, form, frame, rng):
    setting = Setting(name, form, frame, rng)
    codes = dense(setting.codes())
    blind = dense(setting.blind_codes())
    gained = 0.0
    from_library = 0.5 * setting.problem.squared_error(codes)
    from_library = from_library + setting.labelled.value(setting.problem, codes)
    for row in range(0, N, 3):
        parts, atoms = setting.parts(row)
        assert not np.delete(codes[row], atoms).any()
        found = joint_value(*parts, codes[row, atoms])
        least, _ = labelled_code(*parts[:4], setting.constraint, *parts[4:])
        assert_allclose(from_library[row], found, rtol=1e-9)
        assert found <= least + 1e-7 * (1.0 + abs(least))
        gained += joint_value(*parts, blind[row, atoms]) - found
    assert gained > 1e-3


@EVERY_CODER
@BOTH_FORMS
def test_starts_do_not_change_labelled_codes(name, form, rng):
    setting = Setting(name, form, "samples", rng)
    cold = setting.codes()
    assert_allclose(dense(setting.codes(start=cold)), dense(cold), atol=1e-6)
    blind = setting.blind_codes()
    assert_allclose(dense(setting.codes(start=blind)), dense(cold), atol=1e-6)


@pytest.mark.parametrize("name", ["kSC", "positive kSC", "LCC", "exact LLC"])
def test_codes_for_a_margin_lower_the_hinge(name, rng):
    setting = Setting(name, "linear", "samples", rng, MaxMarginRule())

    def objective(codes):
        codes = dense(codes)
        loss = hinge_loss(codes @ setting.classifier.weights + setting.classifier.bias,
                          setting.targets)  # fmt: skip
        prior = setting.formulation.value(setting.problem, codes)
        return 0.5 * setting.problem.squared_error(codes) + prior + setting.etas * loss

    now = setting.blind_codes()
    values = [objective(now)]
    for _ in range(30):
        now = setting.codes(start=now)
        values.append(objective(now))
        prior = setting.labelled.value(setting.problem, now)
        assert_allclose(0.5 * setting.problem.squared_error(now) + prior, values[-1], rtol=1e-9)
    falls = np.diff(values, axis=0)
    assert falls.max() <= 1e-9
    assert falls[0].sum() < -1e-3
    # Where they end nothing can be gained: compare with cvxpy on the hinge itself.
    import cvxpy

    row, code = 0, cvxpy.Variable(N_ATOMS)
    own, cross, gram = setting.explicit(row)
    terms, _ = setting.terms(row)
    scores = setting.classifier.weights.T @ code + setting.classifier.bias
    slack = cvxpy.pos(1 - cvxpy.multiply(setting.targets[row], scores))
    root = np.linalg.cholesky(gram + 1e-14 * np.eye(N_ATOMS)).T
    cost = 0.5 * cvxpy.sum_squares(root @ code) - cross @ code + terms.l1 @ cvxpy.abs(code)
    cost = cost + cvxpy.sum_squares(cvxpy.multiply(np.sqrt(terms.square), code))
    cost = cost + 0.5 * setting.etas[row] * cvxpy.sum_squares(slack)
    limits = convex.limits(setting.constraint, code)
    least = convex.solve_tightly(cvxpy.Problem(cvxpy.Minimize(cost), limits)) + 0.5 * own
    assert least - 1e-7 <= values[-1][row] <= least + 1e-3 * abs(least)


@BOTH_FORMS
def test_one_atom_per_sample_stays_one_with_labels(form, rng, monkeypatch):
    coder = kc.KernelCoder(KERNEL, prior=priors.L1(), constraint=constraints.OneAtom(), alpha=0.1)
    monkeypatch.setitem(CODERS, "one atom", coder)
    setting = Setting("one atom", form, "samples", rng)
    codes = dense(setting.codes())
    assert_array_equal(np.count_nonzero(codes, axis=1), 1)


@EVERY_CODER
@BOTH_FORMS
def test_without_weight_labels_are_not_looked_at(name, form, rng):
    setting = Setting(name, form, "samples", rng, etas=(0.0,))
    blind = setting.blind_codes()
    assert_allclose(dense(setting.codes()), dense(blind), atol=1e-7)


@BOTH_FORMS
def test_the_formulation_of_a_block_has_the_labels_of_that_block(form, rng):
    setting = Setting("kSC", form, "samples", rng)
    labels, eta = Labels.of(setting.targets.argmax(axis=1)), 0.5
    wanted = Supervision(
        setting.rule, labels, setting.targets, setting.etas / eta, unit=1.0, eta=eta, rho=1.0
    )
    learner = SupervisedLearner(
        setting.frame, setting.vectors, setting.formulation, setting.options, wanted, None
    )
    rows, block = slice(4, 9), setting.block
    part = SampleBlock(rows, block.self_similarity[rows], block.similarity[rows], block.cross[rows])
    assert learner.formulations(learner.now)(part) is setting.formulation
    here = learner.formulations(replace(learner.now, classifier=setting.classifier))(part)
    assert_array_equal(here.targets, setting.targets[rows])
    assert_allclose(here.etas, setting.etas[rows], rtol=1e-12)
    here = replace(here, max_passes=None)
    some = here.solve(setting.problem.take(rows), setting.options).codes
    assert_allclose(dense(some), dense(setting.codes())[rows], atol=1e-9)


# What every formulation answers ------------------------------------------------------------------

FACTS = ("nonnegative", "is_cone", "is_sparse", "is_greedy", "follows_atoms", "is_minimiser")


@EVERY_CODER
@BOTH_FORMS
def test_labels_change_no_fact_of_a_formulation(name, form, rng):
    setting = Setting(name, form, "samples", rng)
    for fact in FACTS:
        assert getattr(setting.labelled, fact) == getattr(setting.formulation, fact), fact


@EVERY_CODER
def test_gaps_bound_the_distance_to_the_optimum(name, rng):
    setting = Setting(name, "linear", "samples", rng)
    codes, blind = dense(setting.codes()), dense(setting.blind_codes())
    somewhere = 0.5 * (codes + blind)  # constraints are convex
    rows, distances = range(0, N, 3), []
    for given in (codes, blind, somewhere):
        gaps = setting.labelled.gap(setting.problem, given)
        assert gaps.shape == (N,)
        for row in rows:
            parts, atoms = setting.parts(row)
            least, _ = labelled_code(*parts[:4], setting.constraint, *parts[4:])
            distances.append(joint_value(*parts, given[row, atoms]) - least)
            assert gaps[row] >= distances[-1] - 1e-8 * (1.0 + abs(least))
    assert max(distances) > 1e-2  # there was something to bound
    assert setting.labelled.gap(setting.problem, codes).max() < 1e-6


def test_gaps_are_infinite_where_no_bound_is_known(rng):
    for form, rule in (("linear", MaxMarginRule()), ("bilinear", BilinearRule())):
        setting = Setting("kSC", form, "samples", rng, rule)
        codes = setting.codes(start=setting.blind_codes())
        assert_array_equal(setting.labelled.gap(setting.problem, codes), np.full(N, np.inf))


@pytest.mark.parametrize("name", ["kSC", "positive kSC", "LCC", "exact LLC", "strong LLC", "ridge"])
def test_sensitivities_are_finite_differences_of_the_minimum(name, rng):
    setting = Setting(name, "linear", "samples", rng)
    given = setting.problem

    def least(own, cross, gram):
        problem = CodingProblem(own, cross, gram)
        codes = setting.labelled.solve(problem, setting.options).codes
        value = setting.labelled.value(problem, codes)
        return float(np.sum(0.5 * problem.squared_error(codes) + value))

    own, cross, gram = given.self_similarity, given.cross, given.gram
    found = setting.labelled.sensitivity(given, setting.codes())
    assert_allclose(found.value, least(own, cross, gram), rtol=1e-9)
    by_own = numeric_gradient(lambda at: least(at, cross, gram), own)
    assert_allclose(found.self_similarity, by_own, atol=1e-6)
    by_cross = numeric_gradient(lambda at: least(own, at, gram), cross)
    assert_allclose(found.cross, by_cross, atol=1e-5)
    half = rng.normal(size=gram.shape)
    shift, step = half + half.T, 1e-5
    by_gram = least(own, cross, gram + step * shift) - least(own, cross, gram - step * shift)
    assert_allclose(np.sum(found.gram * shift), by_gram / (2.0 * step), rtol=1e-5)


@pytest.mark.parametrize("n_landmarks", [None, 20])
@pytest.mark.parametrize("classifier", RULES)
def test_remembered_scores_are_those_of_the_codes(classifier, n_landmarks, monkeypatch):
    """Whatever learning is told again, it would find if it computed it."""
    told, original = [], LastScores.known

    def checked(self, asked):
        found = original(self, asked)
        if found is not None:
            codes, classifier, similarity = asked
            told.append(found)
            assert_allclose(found, classifier.scores(codes, similarity), atol=1e-10)
        return found

    monkeypatch.setattr(LastScores, "known", checked)
    X, y = load_digits(n_class=4, return_X_y=True)
    kc.SupervisedKernelCoding(
        kc.KernelSparseCoder("rbf", alpha=0.02), n_atoms=12, classifier=classifier, eta=0.5,
        n_landmarks=n_landmarks, max_iter=3, tol=0.0,
    ).fit(X[:120] / 16.0, y[:120])  # fmt: skip
    assert len(told) >= 6  # in each round those of codes, and of the atoms before


@pytest.mark.parametrize("max_passes", [0, 1, None])
def test_scores_come_along_with_codes(max_passes, rng):
    """Of rows that are solved, and of rows that stay as they are."""
    setting = Setting("kSC", "bilinear", "samples", rng)
    labelled = replace(setting.labelled, last=LastScores(), max_passes=max_passes)
    start = setting.blind_codes()
    labelled.loss(start)  # learning has asked before
    codes = labelled.solve(setting.problem, replace(setting.options, start=start)).codes
    told = labelled.last.known((codes, labelled.classifier, labelled.similarity))
    assert_allclose(told, labelled.classifier.scores(codes, labelled.similarity), atol=1e-10)


def test_other_objects_are_not_remembered():
    last, codes, scores = LastScores(), np.ones(2), np.zeros((2, 1))
    assert last.known((codes,)) is None
    assert last.of((codes,), lambda: scores) is scores
    assert last.known((codes,)) is scores
    assert last.known((codes.copy(),)) is None
    assert last.known((codes, codes)) is None


def test_scores_go_by_other_names():
    last, scores = LastScores(), np.zeros((2, 1))
    codes, other, similarity = np.ones(2), np.ones(2), np.ones(2)
    last.rename((codes,), (other,))
    assert last.known((other,)) is None
    last.remember((codes, similarity), scores)
    last.rename((other,), (codes,))
    assert last.known((codes, similarity)) is scores
    last.rename((codes,), (other,))
    assert last.known((other, similarity)) is scores
    assert last.known((codes, similarity)) is None


@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_scaled_atoms_leave_scores_as_they_are_unless_one_is_gone(gone, form, rng, monkeypatch):
    """A candidate's objective is told no scores of codes that lost an atom."""
    given, original = [], SupervisedLearner.objective_of

    def spy(self, candidate):
        if candidate.classifier is not self.now.classifier and not given:
            norms = np.linspace(0.5, 2.0, candidate.vectors.shape[1])
            norms[0] = 0.0 if gone else 1.0
            codes = form(dense(self.now.codes) * norms)
            moved = replace(candidate, codes=codes, classifier=self.now.classifier.scaled(norms))
            similarity = self.frame.kernel_matrix
            original(self, moved)
            found = self._last_scores.known((codes, moved.classifier, similarity))
            given.append((found, moved.classifier.scores(codes, similarity)))
        return original(self, candidate)

    monkeypatch.setattr(SupervisedLearner, "objective_of", spy)
    X, y = load_digits(n_class=4, return_X_y=True)
    kc.SupervisedKernelCoding(
        kc.KernelSparseCoder("rbf", alpha=0.02), n_atoms=12, classifier="bilinear", eta=0.5,
        max_iter=1, tol=0.0,
    ).fit(X[:120] / 16.0, y[:120])  # fmt: skip
    assert_allclose(*given[0], atol=1e-10)
