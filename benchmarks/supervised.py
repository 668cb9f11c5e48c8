"""Supervised coding against what it is built on: seconds of learning and of prediction.

The peer of learning is dictionary learning without labels, same coder, atoms and rounds; that of
prediction is coding the same samples; both in processor time of one thread. "target" is the
largest ratio of our time to the peer's that we allow; peak memory is that of the supervised side.
"""

from time import process_time

from threadpoolctl import threadpool_limits

from kernelcoding import KernelDictionaryLearning, KernelSparseCoder, SupervisedKernelCoding
from kernelcoding.kernels import Gaussian

from . import data
from .judge import Row, race

TARGETS = {"linear": 2.0, "max-margin": 3.0, "bilinear": 3.0}
PREDICTION = 1.3


def cases():
    """Names, training and test samples, labels, atoms, alpha and width."""
    faces = data.yaleb()
    if faces is not None:
        yield "YaleB 1216, 570 atoms", *faces[:3], 570, 0.002, 0.3
    X, Q, y, _ = data.digits(898)
    yield "digits 898, 200 atoms", X, Q, y, 200, 0.01, 1.0
    fashion = data.small_fashion(7291, 2007)
    if fashion is not None:
        yield "Fashion-MNIST 7291 of 16 x 16, 100 atoms", *fashion[:3], 100, 0.05, 1.0


def compare(case, classifier, samples, n_atoms, coder, rounds, at_most):
    """Learning and prediction, each against its peer."""
    X, Q, y = samples
    common = {"coder": coder, "n_atoms": n_atoms, "max_iter": rounds, "tol": 0.0}
    model = SupervisedKernelCoding(classifier=classifier, **common)
    plain = KernelDictionaryLearning(**common)
    measured, _ = race(
        lambda: model.fit(X, y), lambda: plain.fit(X, y), 2, at_most=at_most, clock=process_time
    )
    times = float(measured.ours / measured.theirs)
    facts = {"times the peer": times, "target": f"<= {TARGETS[classifier]:g}"}
    yield Row("supervised", f"{classifier}, {case}", "no labels", 1, measured, facts)
    measured, _ = race(
        lambda: model.predict(Q), lambda: model.transform(Q), 5, at_most=at_most, clock=process_time
    )
    times = float(measured.ours / measured.theirs)
    facts = {"times the peer": times, "target": f"<= {PREDICTION:g}"}
    yield Row("supervised", f"{classifier} predicts, {case}", "coding", 1, measured, facts)


def run(quick=False, parts=tuple(TARGETS)):
    """Rows of the table; the parts are classifiers."""
    rounds, at_most = (3, 5.0) if quick else (10, 60.0)
    with threadpool_limits(1):
        for case, X, Q, y, n_atoms, alpha, width in cases():
            kernel = Gaussian(width * Gaussian("median").resolve(X).gamma)
            coder = KernelSparseCoder(kernel, alpha=alpha, n_jobs=1)
            for classifier in parts:
                yield from compare(case, classifier, (X, Q, y), n_atoms, coder, rounds, at_most)
