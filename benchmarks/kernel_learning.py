"""Learning kernels: seconds against one coding of the training set from scratch.

The peer is ``fit`` with the kernel that learning starts from and ``transform`` of the training
samples, all of which are atoms. That is an easy task, since every sample is coded by itself; the
column "times coding held out" compares with as hard a task as learning solves, coding the held-out
samples with the same atoms (scaled to the number of training samples).
"""

import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from kernelcoding import KernelSparseCoder
from kernelcoding.kernels import Gaussian, Linear, MultipleKernel, Polynomial, Sigmoid
from kernelcoding.kernels.wrappers import Wrapper
from kernelcoding.learning.kernel_learning import RatioProblem

from . import data
from .judge import Row, race


def cases():
    """Names, training and held-out samples, alpha."""
    faces = data.yaleb()
    if faces is not None:
        yield "YaleB 1216", faces[0], faces[1], 0.002
    atoms, queries, *_ = data.digits(898)
    yield "digits 898", atoms, queries, 0.01


class Held(Wrapper):
    """A kernel whose parameters are not learned."""

    parameter_names = ()
    theta = np.zeros(0)

    def __init__(self, kernel):
        self.kernel = kernel

    def with_theta(self, theta):
        """Return the kernel as it is."""
        return self

    def profile_gradient(self, S):
        """No derivatives."""
        return np.zeros((*self.profile(S).shape, 0))


def four(X):
    """Four kernels at equal shares of the mean diagonal; only their weights can be learned."""
    kernels = [
        Held(kernel.resolve(X))
        for kernel in (Linear(), Gaussian("median"), Polynomial(2, gamma="scale"),
                       Sigmoid(gamma="scale"))
    ]  # fmt: skip
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


def compare(case, kernel, settings, X, held_out, alpha, target, repeats, at_most):
    """Learning against coding; both sides take turns."""
    fixed = KernelSparseCoder(kernel, alpha=alpha, n_jobs=1)
    learner = KernelSparseCoder(
        kernel, alpha=alpha, n_jobs=1, learn_kernel=settings, random_state=0
    )
    counts = []

    def learn():
        with Counted() as calls:
            learner.fit(X)
        counts.append(calls.count)

    measured, _ = race(learn, lambda: fixed.fit(X).transform(X), repeats, at_most=at_most)
    hard, _ = race(lambda: fixed.fit(X).transform(held_out), lambda: None, repeats, at_most=at_most)
    facts = {
        "times one coding": float(measured.ours / measured.theirs),
        "target": f"< {target}",
        "times coding held out": float(measured.ours / hard.ours * len(held_out) / len(X)),
        "evaluations": str(counts[-1]),
        "learned": str(np.round(np.exp(learner.kernel_.theta), 3)[-4:].tolist()),
    }
    return Row("kernel_learning", case, "one coding", 1, measured, facts)


def run(quick=False):
    """Rows of the table."""
    repeats, at_most = (2, 10.0) if quick else (5, 60.0)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # clipping of the sigmoid kernel
        for name, X, held_out, alpha in cases():
            common = X, held_out, alpha
            width = Gaussian("median").resolve(X)
            yield compare(f"Gaussian width, {name}", width, True, *common, 3, repeats, at_most)
            yield compare(f"four weights, {name}", four(X), True, *common, 5, repeats, at_most)
