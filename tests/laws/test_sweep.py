"""Every kernel with every coder in every task: it works, or is refused for a reason of the table.

``python -m campaigns sweep`` runs all cells; these are a few of each.
"""

import re
from functools import partial

import pytest
from sklearn.base import clone

import kernelcoding as kc
from campaigns.sweep import CODERS, KERNELS, TASKS, Cell, outcome_of
from campaigns.sweep.reasons import REFUSALS, reason_of
from campaigns.sweep.running import all_cells, report, sampled_cells
from kernelcoding.classification.rules import RULES
from kernelcoding.coders import __all__ as coder_names
from kernelcoding.dictionary_learning.updates import UPDATES
from kernelcoding.kernels import Kernel, as_kernel

PER_TASK = 3
SAMPLED = sampled_cells(PER_TASK)
# No certificate bounds how far their codes are from the best, and they take most of the time.
UNBOUNDED = ("own prior, non-negative", "own prior, simplex")


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    """Steps enough for every equation; the campaign takes them all."""
    for name in UNBOUNDED:
        coder = CODERS[name]().set_params(max_iter=300)
        monkeypatch.setitem(CODERS, name, partial(clone, coder))


@pytest.mark.parametrize("task", TASKS)
def test_sampled_cells_pass_or_are_refused_for_a_reason(task):
    outcomes = [outcome_of(cell) for cell in SAMPLED if cell.task == task]
    assert len(outcomes) == PER_TASK
    assert not any(outcome.failure for outcome in outcomes), report(outcomes)


def test_every_part_is_sampled():
    for field, names in (("kernel", KERNELS), ("coder", CODERS), ("task", TASKS)):
        assert {getattr(cell, field) for cell in SAMPLED} == set(names)
    assert set(SAMPLED) <= set(all_cells())


BASES = ("Kernel", "ExponentialKernel", "as_kernel", "take")  # of kernels, and two functions


def parts(kernel):
    """The classes a kernel is made of."""
    kernel = as_kernel(kernel)
    inner = [getattr(kernel, "kernel", None), *getattr(kernel, "children", ())]
    found = {type(kernel).__name__}
    for part in inner:
        found |= parts(part) if isinstance(part, Kernel) else set()
    return found


def test_the_lists_hold_every_public_part():
    public = {name for name in kc.kernels.__all__ if name not in BASES}
    assert public <= set().union(*(parts(case.make()) for case in KERNELS.values()))
    assert set(coder_names) - {"BaseKernelCoder"} <= {type(m()).__name__ for m in CODERS.values()}
    assert {f"update {name}" for name in UPDATES} | set(RULES) <= set(TASKS)


def test_every_reason_is_met_and_no_other_refusal_is_one():
    cells = all_cells()
    for row in REFUSALS:
        wanted = ((row.kernels, "kernel"), (row.coders, "coder"), (row.tasks, "task"))
        assert any(
            all(not want or re.fullmatch(want, getattr(cell, field)) for want, field in wanted)
            for cell in cells
        )
    refusal = ValueError("update='ksvd' is for greedy codes: use KernelMatchingPursuit")
    assert reason_of("linear", "sparse", "update ksvd", refusal)
    assert not reason_of("linear", "pursuit", "update ksvd", refusal)
    assert not reason_of("linear", "sparse", "code", refusal)
    assert not reason_of("linear", "sparse", "update ksvd", ValueError("something else"))
    assert not reason_of("linear", "sparse", "update ksvd", KeyError(str(refusal)))


def test_an_equation_that_does_not_hold_is_found(monkeypatch):
    cell = Cell("gaussian", "sparse", "code")
    assert outcome_of(cell).passed
    plain = kc.KernelSparseCoder.reconstruction_error
    monkeypatch.setattr(
        kc.KernelSparseCoder,
        "reconstruction_error",
        lambda self, X, codes=None: 1.01 * plain(self, X, codes) + 1e-3,
    )
    assert "error is off" in outcome_of(cell).failure
    monkeypatch.setattr(
        kc.KernelSparseCoder, "certify", lambda self, X, codes: -1.0 + 0.0 * codes.sum(axis=1)
    )
    monkeypatch.setattr(kc.KernelSparseCoder, "reconstruction_error", plain)
    assert "certificate is negative" in outcome_of(cell).failure
