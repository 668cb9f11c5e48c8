"""A status is never lost: whoever computes codes says once how many did not converge."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, normalize

import kernelcoding as kc
from kernelcoding.aggregation import Pooling
from kernelcoding.constraints import Free, SumToOne
from kernelcoding.priors import NoPrior
from kernelcoding.solvers.result import CodingResult, Convergence, Status

X, Y = load_digits(return_X_y=True)
X, Y, Q = normalize(X[:70]), Y[:70], normalize(X[70:90])
FEW_STEPS = {
    "sparse": kc.KernelSparseCoder(alpha=0.001, max_iter=2),
    "positive": kc.KernelSparseCoder(alpha=0.001, positive=True, max_iter=2),
    "groups": kc.KernelSparseCoder(alpha=0.001, groups=np.arange(8) % 3, max_iter=1),
    "LCC": kc.KernelLCC(alpha=0.001, max_iter=1),
    "general": kc.KernelCoder(alpha=0.001, max_iter=1),
}
EVERY = pytest.mark.parametrize("coder", FEW_STEPS.values(), ids=FEW_STEPS.keys())
UNFINISHED = r"^\d+ of \d+ codes.* did not converge: .*increase max_iter"


def told(function, *arguments):
    """What the function warned of, in sentences."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments)
    return [str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning)]


@EVERY
def test_transform_counts_the_rows(coder):
    coder = type(coder)(**{**coder.get_params(deep=False), "atoms": X[:8]}).fit(X)
    sentences = told(coder.transform, Q)
    assert len(sentences) == 1
    assert " of 20 codes did not converge" in sentences[0]
    assert told(coder.set_params(max_iter=10_000).transform, Q) == []


@EVERY
def test_learning_a_dictionary_tells_once_and_so_does_using_it(coder):
    dl = kc.KernelDictionaryLearning(coder, n_atoms=8, max_iter=2)
    sentences = told(dl.fit, X)
    assert len(sentences) == 1
    assert " of 70 codes of training samples did not converge" in sentences[0]
    assert len(told(dl.transform, Q)) == 1
    assert len(told(dl.reconstruction_error, Q)) == 1
    assert len(told(dl.score, Q)) == 1


@EVERY
def test_batches_tell(coder):
    dl = kc.KernelDictionaryLearning(coder, n_atoms=8)
    sentences = told(dl.partial_fit, X)
    assert len(sentences) == 1
    assert " codes of this batch did not converge" in sentences[0]


@EVERY
@pytest.mark.parametrize("classifier", ["linear", "bilinear", "max-margin"])
def test_supervised_coding_tells_in_fit_and_in_every_use(coder, classifier):
    model = kc.SupervisedKernelCoding(coder, n_atoms=8, classifier=classifier, max_iter=1)
    sentences = told(model.fit, X, Y % 3)
    assert len(sentences) == 1
    for use in (model.transform, model.predict, model.decision_function, model.predict_proba):
        (sentence,) = told(use, Q)
        assert " of 20 codes did not converge" in sentence


def test_the_residual_rule_tells():
    model = kc.ResidualClassifier(kc.KernelSparseCoder(alpha=0.001, max_iter=2)).fit(X, Y)
    for use in (model.predict, model.decision_function, model.concentration, model.predict_proba):
        assert len(told(use, Q)) == 1


@pytest.mark.parametrize("per_class", [False, True])
def test_the_residual_rule_tells_of_learned_atoms(per_class):
    coder = kc.KernelSparseCoder(alpha=0.001, max_iter=2)
    dl = kc.KernelDictionaryLearning(coder, n_atoms=20, max_iter=2, per_class=per_class)
    model = kc.ResidualClassifier(dl)
    (sentence,) = told(model.fit, X, Y)
    assert " of 70 codes of training samples did not converge" in sentence
    for use in (model.predict, model.decision_function, model.concentration, model.predict_proba):
        assert len(told(use, Q)) == 1


def test_learning_a_kernel_tells():
    coder = kc.KernelSparseCoder(alpha=0.001, max_iter=1, learn_kernel=True)
    sentences = told(coder.fit, X)
    assert len(sentences) == 1
    assert "while the kernel was learned" in sentences[0]


def test_a_pipeline_and_pooling_pass_it_on():
    coder = kc.KernelSparseCoder(alpha=0.001, max_iter=2)
    pipeline = make_pipeline(Normalizer(), coder).fit(X)
    assert len(told(pipeline.transform, Q)) == 1
    pooling = Pooling(kc.KernelSparseCoder(atoms=8, alpha=0.001, max_iter=4))
    told(pooling.fit, [X[:40]])
    assert len(told(pooling.transform, [Q])) == 1


def test_greedy_and_closed_forms_have_nothing_to_tell():
    for coder in (kc.KernelMatchingPursuit(), kc.KernelLLC(), kc.KernelBagOfWords()):
        assert told(coder.fit(X).transform, Q) == []


def test_a_warning_can_be_made_an_error():
    coder = kc.KernelSparseCoder(alpha=0.001, max_iter=2).fit(X)
    with pytest.raises(ConvergenceWarning, match=UNFINISHED):
        coder.transform(Q)


def test_convergence_adds_up():
    done = CodingResult(np.eye(3), np.array([True, False, True]), np.ones(3, int))
    assert done.convergence == Convergence(2, 3)
    assert done.status is Status.MAX_ITER
    total = done.convergence + Convergence(4, 4)
    assert total == Convergence(6, 7)
    with pytest.warns(ConvergenceWarning, match=r"1 of 7 codes in a test did not converge"):
        total.warn(" in a test")
    assert CodingResult.closed_form(np.eye(2)).status is Status.CONVERGED
    singular = Convergence(1, 2, Status.SINGULAR)
    for total in (singular + Convergence(3, 3), Convergence(3, 3) + singular):
        assert total == Convergence(4, 5, Status.SINGULAR)


def test_least_squares_that_leave_out_what_rounding_hides_say_so():
    # Two atoms 1e-8 apart: the sample's part along their difference is large, and their Gram
    # matrix does not know it.
    gram = np.array([[1.0, 1.0 - 6e-16], [1.0 - 6e-16, 1.0]])
    coder = kc.KernelCoder("precomputed", prior=NoPrior(), constraint=Free()).fit(gram)
    with pytest.warns(ConvergenceWarning, match="depend on each other up to rounding.*Ridge()"):
        coder.transform([[0.16462444, 0.16462445]])
    assert told(coder.transform, [[0.16462445, 0.16462445]]) == []
    # So for weights that sum to one, of atoms whose difference is all rounding.
    affine = kc.KernelCoder("precomputed", prior=NoPrior(), constraint=SumToOne())
    affine.fit(np.ones((2, 2)))
    with pytest.warns(ConvergenceWarning, match="depend on each other up to rounding"):
        affine.transform([[0.590698962, 0.590698965]])
    assert told(affine.transform, [[0.59, 0.59]]) == []
    twice = kc.KernelCoder("linear", prior=NoPrior(), constraint=Free()).fit([[1.0], [1.0]])
    assert told(twice.transform, [[0.3]]) == []
