"""Groups that are classes: learned atoms keep the class of the samples they started from."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import kernelcoding as kc
from helpers.learning import digits
from kernelcoding.kernel_learning.alignment import aligned_weights
from kernelcoding.kernels import Gaussian, Linear, MultipleKernel

X, Y = digits(90, labels=True)
Y = np.array(["nil", "one", "two"])[Y % 3]
FEW = {"n_atoms": 9, "max_iter": 3}
BY_LABEL = kc.KernelSparseCoder(alpha=0.05, groups="y")
BY_ARRAY = kc.KernelSparseCoder(alpha=0.05, groups=np.repeat(["nil", "one", "two"], 3))
INDICATORS = np.stack([Y == "nil", Y != "two"], axis=1).astype(int)
LEARNING = {
    "samples": lambda coder: kc.KernelDictionaryLearning(coder, **FEW),
    "landmarks": lambda coder: kc.KernelDictionaryLearning(coder, n_landmarks=30, **FEW),
    "means": lambda coder: kc.KernelDictionaryLearning(coder, init="kernel-k-means", **FEW),
    "kernel": lambda coder: kc.KernelDictionaryLearning(coder, learn_kernel=True, **FEW),
    "linear": lambda coder: kc.SupervisedKernelCoding(coder, **FEW),
    "bilinear": lambda coder: kc.SupervisedKernelCoding(coder, classifier="bilinear", **FEW),
}
EACH = pytest.mark.parametrize("make", LEARNING.values(), ids=LEARNING.keys())


@EACH
def test_labels_are_the_groups_that_an_array_would_say(make):
    # First atoms are chosen class by class, three of each, in the order of the classes.
    of_labels, of_array = make(BY_LABEL).fit(X, Y), make(BY_ARRAY).fit(X, Y)
    assert_array_equal(of_labels.coder_.groups, BY_ARRAY.groups)
    assert_allclose(of_labels.objective_history_, of_array.objective_history_, rtol=1e-12)
    assert_allclose(of_labels.transform(X[:9]), of_array.transform(X[:9]), atol=1e-12)


def test_batches_go_on_with_the_labels_of_the_first():
    of_labels, of_array = (LEARNING["samples"](coder) for coder in (BY_LABEL, BY_ARRAY))
    for model in (of_labels, of_array):
        model.partial_fit(X[:45], Y[:45]).partial_fit(X[45:])
    assert_array_equal(of_labels.coder_.groups, BY_ARRAY.groups)
    assert_allclose(of_labels.transform(X[:9]), of_array.transform(X[:9]), atol=1e-12)
    after_fit = LEARNING["samples"](BY_LABEL).fit(X[:45], Y[:45]).partial_fit(X[45:])
    assert_array_equal(after_fit.coder_.groups, BY_ARRAY.groups)


def test_a_warm_start_keeps_its_labels():
    model = kc.SupervisedKernelCoding(BY_LABEL, warm_start=True, random_state=None, **FEW)
    groups = model.fit(X, Y).coder_.groups
    assert_array_equal(model.fit(X, Y).coder_.groups, groups)


@EACH
def test_labels_that_are_no_classes_are_refused(make):
    model = make(BY_LABEL)
    supervised = isinstance(model, kc.SupervisedKernelCoding)
    others = [INDICATORS] if supervised else [None, np.linspace(0.1, 0.7, 90), INDICATORS]
    for y in others:
        with pytest.raises(ValueError, match='groups="y" needs the class of every sample'):
            model.fit(X, y)
    with pytest.raises(ValueError, match="groups must be an array of labels or"):
        make(kc.KernelSparseCoder(groups="x")).fit(X, Y)


@pytest.mark.parametrize("y", [Y, INDICATORS], ids=["classes", "indicators"])
@pytest.mark.parametrize("make", [kc.KernelDictionaryLearning, kc.SupervisedKernelCoding])
def test_kernels_are_aligned_with_labels_of_either_kind(make, y):
    kernels = [Gaussian(0.5), Gaussian(5.0), Linear()]
    coder = kc.KernelSparseCoder(MultipleKernel(kernels), alpha=0.05)
    settings = kc.KernelLearning(weights="alignment")
    model = make(coder, learn_kernel=settings, **FEW).fit(X, y)
    expected = aligned_weights([kernel(X) for kernel in kernels], y)
    assert_allclose(model.kernel_.weights_, expected, rtol=1e-9)
