"""Draw problems, let the library code them, and look for a code that is better than it may be."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from kernelcoding import KernelCoder, constraints, priors
from kernelcoding.formulations import Penalised
from kernelcoding.problem import CodingProblem
from kernelcoding.solvers.result import Options

from ..base import Case, Failure
from .families import FAMILIES, ROUNDED, Arrays
from .judging import Answer, judge
from .reference import Sets
from .terms import terms_of

ROWS = 64
ROWS_BY_CLARABEL = 3
GROUP_PRIORS = ("GroupL1", "SparseGroupL1")
CONVEX = ("Free", "NonNegative", "SumToOne", "Simplex")
PRIORS = ("NoPrior", "Ridge", "L1", "WeightedL1", "ElasticNet", "Locality", "LocalCoordinate")
SETS = {
    "Free": Sets(),
    "NonNegative": Sets(nonnegative=True),
    "SumToOne": Sets(sum_to_one=True),
    "Simplex": Sets(nonnegative=True, sum_to_one=True),
    "OneAtom": Sets(one_atom=True),
}


class Own:
    """A prior that a user might have written."""

    def value(self, codes: NDArray) -> NDArray:
        """Sums of absolute values."""
        return np.abs(codes).sum(axis=1)

    def prox(self, points: NDArray, scale: float) -> NDArray:
        """Soft thresholds."""
        return np.sign(points) * np.maximum(np.abs(points) - scale, 0.0)


class Problems:
    """Certificates are bounds, converged codes are optimal and feasible, numbers are finite."""

    name = "problems"
    counts = "problems"
    share = 4.0

    def draw(self, rng: Generator) -> Case:
        """A dictionary, samples, a prior and a constraint."""
        family = str(rng.choice(list(FAMILIES)))
        by_clarabel = rng.random() < 0.12
        n_atoms = int(rng.integers(5, 13) if by_clarabel else rng.integers(1, 5))
        prior, constraint = _pair(rng, by_clarabel)
        rows = ROWS_BY_CLARABEL if by_clarabel or prior in GROUP_PRIORS else ROWS
        arrays = FAMILIES[family](rng, rows, n_atoms)
        given, limits = _parameters(rng, prior, n_atoms), {}
        if constraint == "AtMost":
            limits["n_nonzero"] = int(rng.integers(1, n_atoms + 1))
            limits["selection"] = str(rng.choice(["omp", "ols"]))
        return {
            "family": family,
            "prior": prior,
            "parameters": given,
            "constraint": constraint,
            "limits": limits,
            "alpha": _alpha(rng, prior, arrays),
            "tol": float(10.0 ** rng.integers(-10, -3)),
            "own": arrays.own,
            "cross": arrays.cross,
            "gram": arrays.gram,
        }

    def label(self, case: Case) -> str:
        """Family, prior and constraint."""
        return f"{case['family']} {case['prior']} {case['constraint']}"

    def check(self, case: Case) -> int:
        """Every row of the case; the message names the first bad one."""
        arrays = Arrays(case["own"], case["cross"], case["gram"])
        formulation = formulation_of(case)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if case["family"] == "indefinite":
                problem = _through_the_estimator(case, formulation)
                arrays = Arrays(problem.self_similarity, problem.cross, problem.gram)
            else:
                problem = CodingProblem(arrays.own, arrays.cross, arrays.gram)
            max_iter = 2_000 if case["prior"] == "Own" else 10_000
            result = formulation.solve(problem, Options(tol=case["tol"], max_iter=max_iter))
            certificates = formulation.gap(problem, result.codes)
        terms = terms_of(case["prior"], case["parameters"], arrays, case["alpha"])
        sets = SETS.get(case["constraint"]) or Sets(n_nonzero=case["limits"]["n_nonzero"])
        answer = Answer(
            np.asarray(result.codes),
            result.converged,
            certificates,
            case["tol"],
            rounded=case["family"] in ROUNDED,
            is_bound=case["prior"] != "Own",
        )
        judge(arrays, terms, sets, answer)
        return len(arrays.own)

    def smaller(self, case: Case) -> Iterator[Case]:
        """One row, fewer atoms, a round alpha."""
        n, n_atoms = np.shape(case["cross"])
        if n > 1:
            for rows in (slice(0, n // 2), slice(n // 2, n)):
                yield {**case, "own": case["own"][rows], "cross": case["cross"][rows]}
        for atom in range(n_atoms if n_atoms > 1 else 0):
            yield _without_atom(case, atom)
        if case["limits"].get("n_nonzero", 0) > n_atoms:
            yield {**case, "limits": {**case["limits"], "n_nonzero": n_atoms}}
        for digits in (1, 3):
            rounded = float(f"{case['alpha']:.{digits - 1}e}")
            if rounded != case["alpha"]:
                yield {**case, "alpha": rounded}

    def close(self) -> None:
        """Nothing was started."""


def formulation_of(case: Case) -> Penalised:
    """What the library is asked."""
    if case["prior"] == "Own":
        prior = Own()
    else:
        prior = getattr(priors, case["prior"])(**case["parameters"])
    constraint = getattr(constraints, case["constraint"])(**case["limits"])
    return Penalised(prior, constraint, case["alpha"])


def _through_the_estimator(case: Case, formulation: Penalised) -> CodingProblem:
    """The clipped problem of an indefinite matrix, about which there must be a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        coder = KernelCoder(
            kernel="precomputed",
            prior=formulation.prior,
            constraint=formulation.constraint,
            alpha=formulation.alpha,
        ).fit(case["gram"])
    smallest = np.linalg.eigvalsh(case["gram"])
    if smallest[0] < -1e-6 * smallest[-1] and not caught:
        raise Failure(f"no warning about an eigenvalue of {smallest[0]:.3g}")
    return coder.dictionary_.problem(case["cross"])


def _pair(rng: Generator, by_clarabel: bool) -> tuple[str, str]:
    kind = rng.random()
    if kind < 0.25:
        return str(rng.choice(GROUP_PRIORS)), str(rng.choice(CONVEX))
    if by_clarabel:
        return str(rng.choice(PRIORS)), str(rng.choice(CONVEX))
    if kind < 0.4:
        return "NoPrior", "AtMost"
    if kind < 0.45:
        return str(rng.choice([*PRIORS, "Own"])), "OneAtom"
    if kind < 0.46:
        return "Own", str(rng.choice(CONVEX))
    return str(rng.choice(PRIORS)), str(rng.choice(CONVEX))


def _parameters(rng: Generator, prior: str, n_atoms: int) -> Case:
    """Weights that are powers of two, so that products with them are exact."""
    if prior == "WeightedL1":
        return {
            "weights": np.where(rng.random(n_atoms) < 0.2, 0.0, 2.0 ** rng.integers(-3, 4, n_atoms))
        }
    if prior == "ElasticNet":
        return {"l1_ratio": float(rng.choice([0.0, 0.5, 0.875, 1 - 2.0**-30, 1.0]))}
    if prior == "Locality":
        return {"sigma": float(rng.choice([0.5, 1.0, 5.0, 20.0, 50.0]))}
    if prior not in GROUP_PRIORS:
        return {}
    groups = np.unique(rng.integers(0, 3, n_atoms), return_inverse=True)[1]
    given: Case = {"groups": groups}
    if rng.random() < 0.4:
        given["weights"] = rng.choice([0.0, 0.5, 1.0, 2.0], groups.max() + 1)
    if prior == "SparseGroupL1":
        given["l1_ratio"] = float(rng.choice([0.0, 0.25, 0.5, 1.0]))
    return given


def _alpha(rng: Generator, prior: str, arrays: Arrays) -> float:
    """Around where codes are sparse, and far from there on both sides."""
    if prior == "LocalCoordinate":
        return float(10.0 ** rng.uniform(-6, 3))
    unit = float(np.abs(arrays.cross).max()) or 1.0
    if prior in ("Ridge", "Locality"):
        unit = float(np.abs(arrays.gram).max()) or 1.0
    power = rng.uniform(-3, 0.5) if rng.random() < 0.6 else rng.uniform(-9, 13)
    return float(unit * 10.0**power)


def _without_atom(case: Case, atom: int) -> Case:
    kept = np.delete(np.arange(len(case["gram"])), atom)
    less = {**case, "cross": case["cross"][:, kept], "gram": case["gram"][np.ix_(kept, kept)]}
    given = dict(case["parameters"])
    if "groups" in given:
        left, groups = np.unique(given["groups"][kept], return_inverse=True)
        given["groups"] = groups
        if "weights" in given:
            given["weights"] = given["weights"][left]
    elif "weights" in given:
        given["weights"] = given["weights"][kept]
    return {**less, "parameters": given}
