"""What is done with a coder: each task ends in an equation, not only without an error."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

import kernelcoding as kc
from kernelcoding.coders.base import BaseKernelCoder
from kernelcoding.coders.transformer import CodingTransformer

from .equations import check_codes, close, plain, require
from .learning import supervised, unsupervised
from .spaces import Samples

Task = Callable[[BaseKernelCoder, Samples], None]
N_ATOMS = 8


def code(coder: BaseKernelCoder, given: Samples) -> None:
    """Every sample is an atom."""
    coder.fit(given.X, given.y)
    check_codes(coder, coder.formulation(), given.Q, coder.transform(given.Q))


def chosen_atoms(coder: BaseKernelCoder, given: Samples) -> None:
    """Few atoms; sparse output has the numbers of dense output."""
    coder.set_params(atoms=N_ATOMS, init="leverage").fit(given.X, given.y)
    codes = coder.transform(given.Q)
    check_codes(coder, coder.formulation(), given.Q, codes)
    compact = coder.set_params(sparse_output=True).transform(given.Q)
    require(sparse.issparse(compact), "sparse_output=True gave no sparse array")
    check_codes(coder, coder.formulation(), given.Q, compact)
    close(compact.toarray(), codes, 1e-9, "sparse output")


def single_precision(coder: BaseKernelCoder, given: Samples) -> None:
    """Codes of single precision, as good as those of double precision up to it."""
    coder.set_params(atoms=N_ATOMS)
    double = clone(coder).fit(given.X, given.y)
    single = coder.fit(given.X.astype(np.float32), given.y)
    queries = given.Q.astype(np.float32)
    codes = single.transform(queries)
    require(codes.dtype == np.float32, f"codes are of type {codes.dtype}")
    check_codes(single, single.formulation(), queries, codes, precision=2e-3)
    check_codes(double, double.formulation(), given.Q, double.transform(given.Q))


def saved(coder: BaseKernelCoder, given: Samples) -> None:
    """A file, and a pickle, give the same codes to the last bit."""
    same_when_read(coder.set_params(atoms=N_ATOMS).fit(given.X, given.y), given)


def saved_dictionary(coder: BaseKernelCoder, given: Samples) -> None:
    """So does a learned dictionary."""
    same_when_read(learning(coder).fit(given.X, given.y), given)


def same_when_read(model: CodingTransformer, given: Samples) -> None:
    """What a pickle and a file of the model say."""
    codes = plain(model.transform(given.Q))
    check_codes(model, model._coding()[0], given.Q, codes)
    again = pickle.loads(pickle.dumps(model))
    require(np.array_equal(plain(again.transform(given.Q)), codes), "a pickle gave other codes")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kc"
        kc.save(model, path)
        found = kc.load(path)
    require(np.array_equal(plain(found.transform(given.Q)), codes), "a file gave other codes")


def grid_search(coder: BaseKernelCoder, given: Samples) -> None:
    """A pipeline whose coder is tuned; the best one codes as a clone of it fitted anew."""
    atoms = 20 if getattr(coder, "groups", None) is None else None
    pipeline = Pipeline([("codes", coder), ("nearest", KNeighborsClassifier(3))])
    grid = {"codes__atoms": [N_ATOMS, atoms], "nearest__n_neighbors": [1, 3]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(given.X, given.y)
    require(0.0 <= search.best_score_ <= 1.0, "the score is no share")
    anew = clone(search.best_estimator_).fit(given.X, given.y)
    codes = plain(search.best_estimator_["codes"].transform(given.Q))
    close(plain(anew["codes"].transform(given.Q)), codes, 1e-12, "codes of a clone")
    labels = np.asarray(search.predict(given.Q))
    require(set(labels) <= set(given.y), "labels that nobody gave")


def learned_kernel(coder: BaseKernelCoder, given: Samples) -> None:
    """The ratio falls, and codes are those of the kernel that was found."""
    settings = kc.KernelLearning(max_iter=5, n_samples_kernel=20)
    coder.set_params(atoms=N_ATOMS, learn_kernel=settings).fit(given.X, given.y)
    falls(coder.kernel_history_, "the ratio")
    require(bool(np.isfinite(coder.kernel_.theta).all()), "parameters are not finite")
    check_codes(coder, coder.formulation(), given.Q, coder.transform(given.Q))


def falls(history: NDArray, what: str) -> None:
    """Not higher at the end than at the start."""
    require(len(history) > 0 and bool(np.isfinite(history).all()), f"{what} is not finite")
    require(history[-1] <= history[0] * (1.0 + 1e-9), f"{what} rose")


def residual_rule(coder: BaseKernelCoder, given: Samples) -> None:
    """The class whose own atoms explain a sample best, from the residuals written out."""
    model = kc.ResidualClassifier(coder).fit(given.X, given.y)
    codes = plain(model.coder_.transform(given.Q))
    problem = model.coder_.dictionary_.problem(given.Q).astype(np.float64)
    scores = np.empty((len(codes), len(model.classes_)))
    for s in range(len(model.classes_)):
        part = np.where(model.atom_classes_ == s, codes, 0.0)
        scores[:, s] = 2.0 * np.sum(part * problem.cross, axis=1)
        scores[:, s] -= np.einsum("ij,jk,ik->i", part, problem.gram, part)
    used = codes.any(axis=1)
    close(model.decision_function(given.Q)[used], scores[used], 1e-6, "scores")
    concentration = model.concentration(given.Q)
    require(bool(np.all((concentration >= 0) & (concentration <= 1 + 1e-9))), "concentration")


def learned_residual_rule(coder: BaseKernelCoder, given: Samples) -> None:
    """The class whose own samples explain a sample best, through the atoms they make up."""
    _judges(kc.ResidualClassifier(learning(coder)).fit(given.X, given.y), given)


def class_wise_rule(coder: BaseKernelCoder, given: Samples) -> None:
    """The same with a dictionary per class."""
    model = kc.ResidualClassifier(learning(coder, per_class=True)).fit(given.X, given.y)
    require(len(np.unique(model.atom_classes_)) == len(model.classes_), "a class without atoms")
    _judges(model, given)


def _judges(model: kc.ResidualClassifier, given: Samples) -> None:
    scores, chances = model.decision_function(given.Q), model.predict_proba(given.Q)
    best = model.classes_[scores.argmax(axis=1)]
    require(bool(np.all(model.predict(given.Q) == best)), "another class than the best")
    close(chances.sum(axis=1), np.ones(len(chances)), 1e-9, "chances")
    require(bool(np.all(chances.argmax(axis=1) == scores.argmax(axis=1))), "another likeliest")
    concentration = model.concentration(given.Q)
    require(bool(np.all((concentration >= 0) & (concentration <= 1 + 1e-9))), "concentration")


def outliers(coder: BaseKernelCoder, given: Samples) -> None:
    """Residuals below a threshold that a tenth of the training samples is below."""
    model = kc.KernelOutlierDetector(coder, contamination=0.1).fit(given.X, given.y)
    scores = model.score_samples(given.Q)
    require(bool(np.isfinite(scores).all()), "scores are not finite")
    close(model.decision_function(given.Q), scores - model.offset_, 1e-12, "decision function")
    require(set(model.predict(given.Q)) <= {-1, 1}, "neither in nor out")
    share = float(np.mean(model.predict(given.X) == -1))
    require(share <= 0.1 + 1e-9, f"a share of {share} of the training samples is out")


def learning(coder: BaseKernelCoder, **changes: object) -> kc.KernelDictionaryLearning:
    """A short run of dictionary learning."""
    given = {"n_atoms": N_ATOMS, "max_iter": 3, **changes}
    return kc.KernelDictionaryLearning(coder, **given)


def _update(name: str) -> Task:
    def task(coder: BaseKernelCoder, given: Samples) -> None:
        unsupervised(learning(coder, update=name), given)

    task.__doc__ = f"Dictionary learning with update={name!r}."
    return task


def landmarks(coder: BaseKernelCoder, given: Samples) -> None:
    """Dictionary learning with few landmarks."""
    unsupervised(learning(coder, n_landmarks=20), given)


def weights(coder: BaseKernelCoder, given: Samples) -> None:
    """Dictionary learning of samples that count differently."""
    unsupervised(learning(coder), given, given.weight)


def batches(coder: BaseKernelCoder, given: Samples) -> None:
    """Dictionary learning from two batches, one after the other."""
    model = learning(coder)
    halves = np.arange(len(given.y)) // N_ATOMS % 2
    for half in (0, 1):
        model.partial_fit(given.X[halves == half], given.y[halves == half])
    require(len(model.objective_history_) == 2, "two batches are two objectives")
    require(bool(np.isfinite(model.objective_history_).all()), "the objective is not finite")
    check_codes(model, model._coding()[0], given.Q, model.transform(given.Q))


def dictionary_and_kernel(coder: BaseKernelCoder, given: Samples) -> None:
    """Dictionary learning with a kernel that is learned, too."""
    settings = kc.KernelLearning(max_iter=3, n_samples_kernel=20, rounds=1)
    model = learning(coder, learn_kernel=settings)
    falls(unsupervised(model, given).kernel_history_[:1], "the ratio")


def _classifier(name: str) -> Task:
    def task(coder: BaseKernelCoder, given: Samples) -> None:
        settings = {"n_atoms": N_ATOMS, "max_iter": 2, "classifier": name}
        supervised(kc.SupervisedKernelCoding(coder, **settings), given, given.y)

    task.__doc__ = f"Supervised coding with classifier={name!r}."
    return task


def several_labels(coder: BaseKernelCoder, given: Samples) -> None:
    """Supervised coding of indicators, with a kernel that is learned."""
    settings = kc.KernelLearning(max_iter=2, n_samples_kernel=20)
    model = kc.SupervisedKernelCoding(coder, n_atoms=N_ATOMS, max_iter=1, learn_kernel=settings)
    supervised(model, given, given.indicators)


TASKS: dict[str, Task] = {
    "code": code,
    "chosen atoms": chosen_atoms,
    "single precision": single_precision,
    "saved": saved,
    "grid search": grid_search,
    "learned kernel": learned_kernel,
    "residual rule": residual_rule,
    "residual rule of learned atoms": learned_residual_rule,
    "residual rule of class-wise atoms": class_wise_rule,
    "outliers": outliers,
    **{f"update {name}": _update(name) for name in ("auto", "pinv", "coordinate")},
    **{f"update {name}": _update(name) for name in ("ksvd", "aksvd", "gradient", "points")},
    "landmarks": landmarks,
    "weights": weights,
    "batches": batches,
    "dictionary and kernel": dictionary_and_kernel,
    "saved dictionary": saved_dictionary,
    "linear": _classifier("linear"),
    "bilinear": _classifier("bilinear"),
    "max-margin": _classifier("max-margin"),
    "logistic": _classifier("logistic"),
    "several labels": several_labels,
}
