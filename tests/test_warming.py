"""After warming up, models of every kind compile nothing more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kernelcoding
from helpers.commands import done
from kernelcoding import warming

LAW = """
import importlib, pkgutil, sys, warnings
import numpy as np
from kernelcoding import _compiled, warming

def signatures():
    found = set()
    for module in pkgutil.iter_modules(_compiled.__path__):
        room = importlib.import_module(f"kernelcoding._compiled.{module.name}")
        for name, function in vars(room).items():
            found |= {(name, str(one)) for one in getattr(function, "signatures", ())}
    return found

warming.warm_up_here()
warm = signatures()
assert len(warm) > 15, len(warm)
assert "fill_single_exponentials" in {name for name, _ in warm}
from kernelcoding.kernels import Gaussian
from kernelcoding.kernels.single import SingleValues
points = np.eye(40)
values = SingleValues.of(Gaussian(0.1), Gaussian(0.1).prepare(points))
values.between(values.of_atoms(np.arange(4)), slice(0, 9), np.empty(36, np.float32))
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
from helpers.models import ANSWERS, fitted
for name, (model, samples) in fitted().items():
    if isinstance(samples, np.ndarray):
        samples = samples.copy()
        samples.setflags(write=False)
    for question in ANSWERS:
        if hasattr(model, question):
            getattr(model, question)(samples)
new = signatures() - warm
assert not new, new
"""


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_warm_models_compile_nothing():
    sources = str(Path(kernelcoding.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": sources}
    subprocess.run(
        [sys.executable, "-c", LAW, str(Path(__file__).parent)], check=True, env=environment
    )


def test_the_command_counts_what_it_compiles(monkeypatch):
    called = []
    monkeypatch.setattr(
        warming, "steps", lambda: [("one", lambda: called.append(1)), ("two", lambda: None)]
    )
    assert "Compiled: 2 parts in 0 s" in done("warm-up")
    assert called == [1]
