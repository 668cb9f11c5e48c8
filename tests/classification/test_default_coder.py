"""Parameters of the coder that None stands for can be searched."""

from __future__ import annotations

import pytest
from sklearn.base import clone

import kernelcoding as kc

OWNERS = [
    kc.ResidualClassifier(),
    kc.KernelOutlierDetector(),
    kc.KernelDictionaryLearning(),
    kc.SupervisedKernelCoding(),
]


@pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: type(owner).__name__)
def test_parameters_reach_into_the_default_coder(owner):
    changed = clone(owner).set_params(coder__alpha=0.5, coder__kernel__gamma=2.0)
    assert isinstance(changed.coder, kc.KernelSparseCoder)
    assert (changed.coder.alpha, changed.coder.kernel.gamma) == (0.5, 2.0)
    assert owner.coder is None
    local = kc.KernelLLC()
    assert clone(owner).set_params(coder=local, coder__n_neighbors=7).coder is local
    assert local.n_neighbors == 7


@pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: type(owner).__name__)
def test_other_parameters_leave_the_coder_to_fit(owner):
    assert clone(owner).set_params(coder=None).coder is None
