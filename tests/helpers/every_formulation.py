"""Every formulation there is: each prior with each constraint that has a solver, and the others."""

import pytest

from helpers.cases import CONSTRAINTS, PRIORS, Absolute
from kernelcoding.constraints import AtMost, Free, OneAtom
from kernelcoding.formulations import NeighbourFit, OnCandidates, Penalised, SoftAssignment
from kernelcoding.priors import L1, NoPrior

ALPHA = 0.3  # so large that sparse codes are sparse


def _every_formulation():
    found = {}
    for name, prior in PRIORS.items():
        for limit, constraint in {**CONSTRAINTS, "OneAtom": OneAtom()}.items():
            found[f"{name}, {limit}"] = Penalised(prior, constraint, ALPHA)
    for constraint in (*CONSTRAINTS.values(), OneAtom()):
        name = f"prior of one's own, {type(constraint).__name__}"
        found[name] = Penalised(Absolute(), constraint, ALPHA)
    for selection in ("omp", "ols"):
        found[f"at most 3, {selection}"] = Penalised(NoPrior(), AtMost(3, selection))
    found["neighbours"] = NeighbourFit(4, 0.1)
    found["candidates"] = OnCandidates(Penalised(L1(), Free(), ALPHA), 4)
    found["soft"] = SoftAssignment(1.3)
    found["soft, neighbours"] = SoftAssignment(1.3, 4)
    return found


FORMULATIONS = _every_formulation()
EVERY_FORMULATION = pytest.mark.parametrize(
    "formulation", FORMULATIONS.values(), ids=FORMULATIONS.keys()
)
