"""What the pages say can be run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import kernelcoding.kernels as room
from kernelcoding.kernels.names import NAMES

PAGE = Path(__file__).parents[1] / "docs" / "kernels.md"


def test_the_code_of_the_page_runs_in_one_go():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 5
    assert names["coder"].transform(names["texts"]).shape == (6, 6)
    assert np.shape(names["kernel"].weights) == ()


def test_the_table_has_every_kernel_and_every_name():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE.read_text(), flags=re.MULTILINE)
    made_of_others = {
        "Centered",
        "Fixed",
        "MultipleKernel",
        "Normalized",
        "Product",
        "Scaled",
        "Sum",
        "View",
    }
    bases = {"Kernel", "ExponentialKernel"}
    public = {name for name in room.__all__ if isinstance(getattr(room, name), type)}
    assert {name for name, _ in rows} == public - made_of_others - bases
    given = {text.strip('`"'): name for name, text in rows if text.startswith('`"')}
    for name, kind in given.items():
        assert type(NAMES[name]()).__name__ == kind
    assert NAMES.keys() - given.keys() == {"cosine", "gaussian", "polynomial"}


@pytest.mark.parametrize("word", ["median", "0.1*median", "SimpleImputer", "np.ix_"])
def test_what_users_look_for_is_there(word):
    assert word in PAGE.read_text()
