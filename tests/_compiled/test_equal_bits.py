"""Compiled code computes the same bits, whatever else a process has loaded or compiled before.

A function that Python calls keeps its parts to itself. Versions of Numba that we do not know
optimise a function again with each of its callers, and of equal names the first one loaded is
called: copies that may sum in other orders would give other last places.
"""

import importlib
import pkgutil
import subprocess
import sys

import pytest

from kernelcoding import _compiled
from kernelcoding._compiled.jit import njit

SUMS = {"dot", "four_dots", "eight_dots", "direct_distance"}  # leaves: one loop, one sum each
ENTRIES = {"fill_weights"}  # called from Python only: there is one copy

RUN = """
import hashlib, importlib, sys
import numpy as np
import kernelcoding as kc
for name in sys.argv[1:]:
    module, function = name.split(".")
    found = getattr(importlib.import_module("kernelcoding._compiled." + module), function)
    for signature, *_ in found._cache._cache_file._load_index():
        found.compile(signature)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 8)), np.arange(300) % 3
X[:, 0] += 3 * y
codes = kc.KernelSparseCoder(alpha=0.01, atoms=60).fit(X).transform(X)
settings = {"n_atoms": 15, "n_landmarks": 60, "max_iter": 2}
model = kc.SupervisedKernelCoding(classifier="bilinear", **settings).fit(X, y)
print(hashlib.sha256(codes.tobytes() + model.predict_proba(X).tobytes()).hexdigest())
"""


def functions():
    for info in pkgutil.iter_modules(_compiled.__path__):
        module = importlib.import_module(f"kernelcoding._compiled.{info.name}")
        for name, found in vars(module).items():
            own = getattr(found, "py_func", None)
            if own is not None and own.__module__ == module.__name__:
                yield info.name, name, found


def is_cached(found):
    return hasattr(found._cache, "_cache_file")


@pytest.mark.skipif(not hasattr(njit(lambda: 0), "py_func"), reason="nothing is compiled")
def test_only_leaves_sum_in_any_order():
    compiled = {name for _, name, _ in functions()}
    for _, name, found in functions():
        flags = found.targetoptions.get("fastmath", set())
        if name not in ENTRIES and "reassoc" in flags:
            assert name in SUMS
            assert not compiled & set(found.py_func.__code__.co_names)


@pytest.mark.skipif(not hasattr(njit(lambda: 0), "py_func"), reason="nothing is compiled")
def test_the_order_of_loading_changes_no_bits():
    def bits(*first):
        done = subprocess.run(
            [sys.executable, "-c", RUN, *first], capture_output=True, text=True, check=True
        )
        return done.stdout

    plain = bits()  # fills the cache
    cached = [f"{module}.{name}" for module, name, found in functions() if is_cached(found)]
    assert len(cached) > 10
    assert bits("low_rank.fill_problems") == bits(*reversed(cached)) == plain
