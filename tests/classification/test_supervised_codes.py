"""Codes that look at labels minimise the joint objective: compared with cvxpy."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import kernelcoding as kc
from kernelcoding import constraints, priors
from kernelcoding.kernels import Polynomial
from kernelcoding.learning.coding import encode, problem_of
from kernelcoding.learning.rules import RULES, BilinearClassifier, LinearClassifier
from kernelcoding.learning.supervision import LabelledCoder
from kernelcoding.problem import CodingProblem
from reference import convex
from reference.learning import world
from reference.supervised import (
    dense,
    hinge_loss,
    joint_value,
    labelled_code,
    one_hot,
    sparse_codes,
)

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
        self.rule = rule or RULES[form]
        targets = one_hot(rng, N, N_CLASSES)
        self.targets = 2.0 * targets - 1.0 if self.rule.signed else targets
        self.labelled = LabelledCoder(self.coder, self.rule, self.targets, self.etas)
        self.labelled.classifier = self.classifier
        (self.block,) = self.frame.blocks(self.vectors)
        self.here = self.labelled.at(self.block)
        self.problem = problem_of(self.block, self.frame.gram(self.vectors))

    def codes(self, start=None):
        return encode(self.here, self.problem, replace(self.coder.training_options(), start=start))

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
        formulation = self.coder.formulation()
        terms = convex.terms(formulation.prior, alone, 0, formulation.alpha)
        return terms, np.arange(N_ATOMS)


@EVERY_CODER
@BOTH_FORMS
@BOTH_FRAMES
def test_labelled_codes_minimise_the_joint_objective(name, form, frame, rng):
    setting = Setting(name, form, frame, rng)
    codes = dense(setting.codes())
    constraint = setting.coder.formulation().constraint
    blind = dense(encode(setting.coder, setting.problem, setting.coder.training_options()))
    gained = 0.0
    from_library = 0.5 * setting.problem.squared_error(codes)
    from_library = from_library + setting.here.prior_value(setting.problem, codes)
    for row in range(0, N, 3):
        own, cross, gram = setting.explicit(row)
        terms, atoms = setting.terms(row)
        assert not np.delete(codes[row], atoms).any()
        goal = setting.targets[row] - setting.classifier.bias
        parts = (
            own, cross[atoms], gram[np.ix_(atoms, atoms)], terms, setting.responses(row)[atoms],
            goal, setting.etas[row],
        )  # fmt: skip
        found = joint_value(*parts, codes[row, atoms])
        least, _ = labelled_code(*parts[:4], constraint, *parts[4:])
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
    blind = encode(setting.coder, setting.problem, setting.coder.training_options())
    assert_allclose(dense(setting.codes(start=blind)), dense(cold), atol=1e-6)


@pytest.mark.parametrize("name", ["kSC", "positive kSC", "LCC", "exact LLC"])
def test_codes_for_a_margin_lower_the_hinge(name, rng):
    setting = Setting(name, "linear", "samples", rng, RULES["max-margin"])

    def objective(codes):
        codes = dense(codes)
        loss = hinge_loss(codes @ setting.classifier.weights + setting.classifier.bias,
                          setting.targets)  # fmt: skip
        prior = setting.coder.prior_value(setting.problem, codes)
        return 0.5 * setting.problem.squared_error(codes) + prior + setting.etas * loss

    now = encode(setting.coder, setting.problem, setting.coder.training_options())
    values = [objective(now)]
    for _ in range(30):
        now = setting.codes(start=now)
        values.append(objective(now))
        prior = setting.here.prior_value(setting.problem, now)
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
    limits = convex.limits(setting.coder.formulation().constraint, code)
    least = convex.solve_tightly(cvxpy.Problem(cvxpy.Minimize(cost), limits)) + 0.5 * own
    assert least - 1e-7 <= values[-1][row] <= least + 1e-3 * abs(least)


@BOTH_FORMS
def test_one_atom_a_sample_stays_one_with_labels(form, rng, monkeypatch):
    coder = kc.KernelCoder(KERNEL, prior=priors.L1(), constraint=constraints.OneAtom(), alpha=0.1)
    monkeypatch.setitem(CODERS, "one atom", coder)
    setting = Setting("one atom", form, "samples", rng)
    codes = dense(setting.codes())
    assert_array_equal(np.count_nonzero(codes, axis=1), 1)


@EVERY_CODER
@BOTH_FORMS
def test_without_weight_labels_are_not_looked_at(name, form, rng):
    setting = Setting(name, form, "samples", rng, etas=(0.0,))
    blind = encode(setting.coder, setting.problem, setting.coder.training_options())
    assert_allclose(dense(setting.codes()), dense(blind), atol=1e-7)


def test_a_coder_of_a_block_has_the_labels_of_that_block(rng):
    setting = Setting("kSC", "linear", "samples", rng)
    rows = slice(4, 9)
    here = setting.labelled.at(replace(setting.block, rows=rows))
    assert_array_equal(here.targets, setting.targets[rows])
    some = encode(here, setting.problem.take(rows), setting.coder.training_options())
    assert_allclose(dense(some), dense(setting.codes())[rows], atol=1e-9)
