"""Handwritten digits: every coder, linear and kernel, all training samples as atoms.

Needs no data but what scikit-learn ships. Labels by the residual rule, as in the paper's
experiments without dictionary learning.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

from ..classification import ResidualClassifier
from ..coders import (
    BaseKernelCoder,
    KernelBagOfWords,
    KernelLCC,
    KernelLLC,
    KernelMatchingPursuit,
    KernelSparseCoder,
)
from ..problem import CodingProblem
from .records import Record

# Round settings, the same for both kernels; none was chosen by looking at the test half.
METHODS: dict[str, BaseKernelCoder] = {
    "bag of words, hard": KernelBagOfWords(assignment="hard"),
    "bag of words, soft": KernelBagOfWords(),
    "bag of words, local": KernelBagOfWords(n_neighbors=5),
    "sparse coding": KernelSparseCoder(alpha=0.01),
    "sparse coding, positive": KernelSparseCoder(alpha=0.01, positive=True),
    "sparse coding, groups": KernelSparseCoder(alpha=0.02, groups="y"),
    "LLC, 20 neighbours": KernelLLC(n_neighbors=20),
    "LLC, exact": KernelLLC(n_neighbors=None),
    "LCC": KernelLCC(alpha=0.1),
    "matching pursuit, OMP": KernelMatchingPursuit(n_nonzero=10),
    "matching pursuit, OLS": KernelMatchingPursuit(n_nonzero=10, selection="ols"),
}
KERNELS = {"linear": "linear", "Gaussian": "rbf"}
WARM_UP = 50


def load_split() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Unit-norm images, half for training, classes balanced."""
    X, y = load_digits(return_X_y=True)
    return train_test_split(normalize(X), y, test_size=0.5, stratify=y, random_state=0)


def run(n_jobs: int | None = None) -> Iterator[Record]:
    """Yield one record for each method and kernel, as they finish."""
    X, Q, y, labels = load_split()
    for method, coder in METHODS.items():
        for kernel_name, kernel in KERNELS.items():
            classifier = ResidualClassifier(clone(coder).set_params(kernel=kernel, n_jobs=n_jobs))
            yield run_one(method, kernel_name, classifier, (X, y), (Q, labels))


def run_one(method, kernel_name, classifier, training, test) -> Record:
    """Fit, code, classify, and certify the codes."""
    X, y = training
    Q, labels = test
    # A few samples first: compiling is done once an installation and is no part of coding.
    clone(classifier).fit(X[:WARM_UP], y[:WARM_UP]).predict(Q[:1])
    start = time.perf_counter()
    classifier.fit(X, y)
    codes = classifier.coder_.transform(Q)
    seconds = time.perf_counter() - start
    coder = classifier.coder_
    problem = CodingProblem.of(coder.dictionary_, Q)
    return Record(
        experiment="digits",
        method=method,
        kernel=kernel_name,
        accuracy=float(np.mean(classifier.predict_from_codes(Q, codes) == labels)),
        nonzero=float(np.count_nonzero(codes, axis=1).mean()),
        error=float(problem.squared_error(codes).mean() / problem.self_similarity.mean()),
        gap=float(coder.certify(Q, codes).max()),
        seconds=seconds,
    )
