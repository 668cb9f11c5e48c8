"""A zoo of inputs: the same answer as for plain arrays, or an error with a sentence."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import Pool

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

import kernelcoding as kc

from .base import Case, Failure
from .zoo import DIFFERENT, FORMS, LABELS

Answers = dict[str, NDArray]
METHODS = ("transform", "predict", "decision_function", "reconstruction_error")
ESTIMATORS: dict[str, Callable[[], BaseEstimator]] = {
    "sparse": kc.KernelSparseCoder,
    "sparse, two threads": lambda: kc.KernelSparseCoder(n_jobs=2),
    "sparse, CSR": lambda: kc.KernelSparseCoder(kernel="laplacian", sparse_output=True),
    "linear": lambda: kc.KernelSparseCoder(kernel="linear", positive=True),
    "LLC": lambda: kc.KernelLLC(n_neighbors=3),
    "exact LLC": lambda: kc.KernelLLC(n_neighbors=None),
    "LCC": lambda: kc.KernelLCC(kernel="poly"),
    "words": kc.KernelBagOfWords,
    "pursuit": lambda: kc.KernelMatchingPursuit(n_nonzero=2),
    "simplex": kc.KernelCoder,
    "dictionary": lambda: kc.KernelDictionaryLearning(n_atoms=3, max_iter=2, random_state=0),
    "residual": kc.ResidualClassifier,
    "supervised": lambda: kc.SupervisedKernelCoding(
        n_atoms=6, classifier="linear", max_iter=1, random_state=0
    ),
}
WITH_LABELS = ("residual", "supervised")
MODES = ("here", "here", "here", "here", "threads", "pickled", "fork", "spawn")
MODE_CHANCES = (0.2, 0.2, 0.2, 0.17, 0.12, 0.05, 0.04, 0.02)


def answers(model: BaseEstimator, queries: object) -> Answers:
    """Everything that is asked, as plain arrays."""
    found = {}
    for name in METHODS:
        if hasattr(model, name):
            answer = getattr(model, name)(queries)
            found[name] = answer.toarray() if sparse.issparse(answer) else np.asarray(answer)
    if hasattr(model, "certify"):
        found["certify"] = model.certify(queries, model.transform(queries))
    return found


def elsewhere(model: bytes, queries: object) -> Answers:
    """The same in another process."""
    return answers(pickle.loads(model), queries)


class Estimators:
    """Fit and ask, in every form and from everywhere."""

    name = "estimators"
    counts = "faults"
    share = 1.3

    def __init__(self) -> None:
        self._spawned: Pool | None = None

    def draw(self, rng: Generator) -> Case:
        """An estimator, forms of samples, queries and labels, and where it is asked."""
        forms = [*FORMS]
        return {
            "estimator": str(rng.choice(list(ESTIMATORS))),
            "form": str(rng.choice(forms)),
            "query_form": str(rng.choice(forms if rng.random() < 0.5 else ["plain"])),
            "labels": str(rng.choice(list(LABELS) if rng.random() < 0.3 else ["numbers"])),
            "mode": str(rng.choice(MODES, p=MODE_CHANCES)),
            "n": int(rng.choice([1, 2, 7, 20, 500], p=[0.1, 0.1, 0.4, 0.38, 0.02])),
            "d": int(rng.choice([1, 3, 6])),
            "seed": int(rng.integers(0, 10**6)),
        }

    def label(self, case: Case) -> str:
        """Estimator, forms and where."""
        return f"{case['estimator']}: {case['form']}, {case['query_form']}, {case['mode']}"

    def check(self, case: Case) -> int:
        """Fit to a form and to plain arrays; compare."""
        rng = np.random.default_rng(case["seed"])
        X, Q = rng.normal(size=(case["n"], case["d"])), rng.normal(size=(5, case["d"]))
        y = LABELS[case["labels"]](rng, len(X))
        with np.errstate(all="ignore"):
            try:
                odd = FORMS[case["form"]](X), FORMS[case["query_form"]](Q)
                given = self._asked(case, *odd, y)
            except (ValueError, TypeError) as error:
                _is_sentence(error)
                return 1
            for name, answer in given.items():
                if answer.dtype.kind == "f" and not _is_number(name, answer):
                    raise Failure(f"{name} is not finite")
            if {case["form"], case["query_form"]} & DIFFERENT:
                return 1  # another problem: an answer is enough
            plain = np.array(odd[0], float, order="C"), np.array(odd[1], float, order="C")
            wanted = self._asked({**case, "mode": "here"}, *plain, y)
        _equal(given, wanted)
        return 1

    def _asked(self, case: Case, X: object, Q: object, y: object) -> Answers:
        model = ESTIMATORS[case["estimator"]]()
        model = model.fit(X, y) if case["estimator"] in WITH_LABELS else model.fit(X)
        mode = case["mode"]
        if mode == "here":
            return answers(model, Q)
        if mode == "threads":
            with ThreadPoolExecutor(4) as pool:
                found = list(pool.map(lambda _: answers(model, Q), range(6)))
            for other in found[1:]:
                _equal(other, found[0])
            return found[0]
        packed = pickle.dumps(model)
        if mode == "pickled":
            return elsewhere(packed, Q)
        if mode == "fork":
            with multiprocessing.get_context("fork").Pool(1) as pool:
                return pool.apply_async(elsewhere, (packed, Q)).get(60)
        if self._spawned is None:
            self._spawned = multiprocessing.get_context("spawn").Pool(1)
        return self._spawned.apply_async(elsewhere, (packed, Q)).get(60)

    def smaller(self, case: Case) -> Iterator[Case]:
        """Plainer in one thing."""
        plainer = {"mode": "here", "labels": "numbers", "query_form": "plain", "form": "plain"}
        for name, value in plainer.items():
            if case[name] != value:
                yield {**case, name: value}
        for name in ("n", "d"):
            if case[name] > 1:
                yield {**case, name: case[name] // 2}

    def close(self) -> None:
        """End the process that was spawned."""
        if self._spawned is not None:
            self._spawned.terminate()
            self._spawned.join()
            self._spawned = None


def _is_number(name: str, answer: NDArray) -> bool:
    """Finite; a certificate may be infinite."""
    return not (np.isnan(answer) if name == "certify" else ~np.isfinite(answer)).any()


def _is_sentence(error: Exception) -> None:
    text = str(error)
    if len(text) < 15 or " " not in text:
        raise Failure(f"{type(error).__name__} without a sentence: {text!r}")


def _equal(given: Answers, wanted: Answers) -> None:
    for name, answer in wanted.items():
        if name == "certify":
            same = np.array_equal(np.isinf(given[name]), np.isinf(answer))  # a bound, not the gap
        elif answer.dtype.kind != "f":
            same = np.array_equal(given[name].astype(str), answer.astype(str))
        else:
            scale = max(1.0, float(np.abs(answer).max(initial=0.0)))
            same = given[name].shape == answer.shape
            same = same and bool(np.all(np.abs(given[name] - answer) <= 1e-7 * scale))
        if not same:
            raise Failure(f"{name} differs from that of plain arrays")
