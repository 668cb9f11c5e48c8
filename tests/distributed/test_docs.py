"""What docs/scale.md says can be run, and its picture is of the present graph."""

import importlib.util
import re
from pathlib import Path

import dask
import numpy as np
from scipy import sparse

DOCS = Path(__file__).parents[2] / "docs"


def test_the_example_of_the_page_runs(tmp_path):
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS / "scale.md").read_text(), flags=re.DOTALL)
    names = {"folder": tmp_path / "codes"}
    smaller = (
        block.replace("60_000", "600").replace("20_000", "200").replace("atoms=200", "atoms=20")
    )
    assert smaller != block
    with dask.config.set(scheduler="threads"):
        exec(smaller, names)
        codes, errors = dask.compute(names["codes"], names["errors"])
    assert sparse.issparse(codes)
    expected = names["coder"].reconstruction_error(names["X"].compute())
    np.testing.assert_allclose(errors, expected, rtol=0, atol=1e-12)


def test_the_picture_is_of_the_present_graph():
    path = DOCS / "figures" / "task_graph.py"
    spec = importlib.util.spec_from_file_location("task_graph", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    assert program.PICTURE.read_text() == program.draw(program.graph())
    kinds = [what for what, _ in program.graph().values()]
    assert sorted(kinds) == sorted(["model"] + program.N_BLOCKS * ["read", "code", "write"])
