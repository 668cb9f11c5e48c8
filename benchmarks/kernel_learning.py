"""Learning kernels: seconds against one coding of the training set from scratch.

The peer codes every training sample with the atoms of the other four folds, once, with the kernel
that learning starts from: what learning has to do for one value of its objective. The column
"times own atoms" compares with ``fit`` and ``transform`` of the training samples where each is its
own atom: nearly nothing is left to solve there.
"""

import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from kernelcoding import KernelLearning, KernelSparseCoder
from kernelcoding.coders.base import options_of
from kernelcoding.kernel_learning.held_out import Problems
from kernelcoding.kernel_learning.ratio import RatioProblem
from kernelcoding.kernels import (
    Fixed,
    Gaussian,
    Laplacian,
    Linear,
    MultipleKernel,
    Polynomial,
    Sigmoid,
)

from . import data
from .judge import Row, race


def cases():
    """Names, training samples, alpha."""
    faces = data.yaleb()
    if faces is not None:
        yield "YaleB 1216", faces[0], 0.002
    yield "digits 898", data.digits(898)[0], 0.01


def four(X, fourth):
    """Four kernels at equal shares of the mean diagonal; only their weights can be learned."""
    kernels = [
        Fixed(kernel.resolve(X))
        for kernel in (Linear(), Gaussian("median"), Polynomial(2, gamma="scale"), fourth)
    ]
    means = [np.mean(kernel.diagonal_of(kernel.prepare_alone(X))) for kernel in kernels]
    return MultipleKernel(kernels, [1.0 / (len(means) * mean) for mean in means])


class Counted:
    """Counts evaluations of the ratio while it is entered."""

    def __enter__(self):
        self.count, self.original = 0, RatioProblem.__call__

        def call(problem, theta):
            self.count += 1
            return self.original(problem, theta)

        RatioProblem.__call__ = call
        return self

    def __exit__(self, *_):
        RatioProblem.__call__ = self.original


def without_own(coder, kernel, X):
    """Code every sample with the atoms of other folds, from similarities to codes."""
    problems = Problems(
        coder.formulation(),
        options_of(coder),
        kernel,
        X,
        coder.dictionary_,
        KernelLearning(),
        np.random.RandomState(0),
    )
    return problems.of(problems.samples).loss_and_spread(kernel.theta)


def compare(case, kernel, X, alpha, target, repeats, at_most):
    """Learning against coding; both sides take turns."""
    fixed = KernelSparseCoder(kernel, alpha=alpha, sparse_output=True, n_jobs=1)
    learner = KernelSparseCoder(kernel, alpha=alpha, n_jobs=1, learn_kernel=True, random_state=0)
    fixed.fit(X)
    counts = []

    def learn():
        with Counted() as calls:
            learner.fit(X)
        counts.append(calls.count)

    measured, _ = race(learn, lambda: without_own(fixed, kernel, X), repeats, at_most=at_most)
    easy, _ = race(lambda: fixed.fit(X).transform(X), lambda: None, repeats, at_most=at_most)
    facts = {
        "times one coding": float(measured.ours / measured.theirs),
        "target": f"< {target}",
        "times own atoms": float(measured.ours / easy.ours),
        "evaluations": str(counts[-1]),
        "learned": str(np.round(np.exp(learner.kernel_.theta), 3)[-4:].tolist()),
    }
    return Row("kernel_learning", case, "one coding", 1, measured, facts)


def run(quick=False):
    """Rows of the table."""
    repeats, at_most = (2, 10.0) if quick else (5, 60.0)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # clipping of the sigmoid kernel
        for name, X, alpha in cases():
            width = Gaussian("median").resolve(X)
            yield compare(f"Gaussian width, {name}", width, X, alpha, 3, repeats, at_most)
            for fourth in (Laplacian("median"), Sigmoid(gamma="scale")):
                case = f"four weights with {type(fourth).__name__}, {name}"
                yield compare(case, four(X, fourth), X, alpha, 5, repeats, at_most)
