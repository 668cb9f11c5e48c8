"""The room from outside: lazy names, and what is said where Dask is not installed."""

import subprocess
import sys

import pytest

import kernelcoding as kc


def test_public_names_are_found_and_listed():
    for name in kc.distributed.__all__:
        assert getattr(kc.distributed, name).__doc__
        assert name in dir(kc.distributed)
    with pytest.raises(AttributeError, match="no attribute 'scatter'"):
        kc.distributed.scatter  # noqa: B018


def test_without_dask_the_extra_is_named():
    code = (
        "import sys\n"
        "sys.modules['dask'] = sys.modules['distributed'] = None\n"
        "import numpy, kernelcoding as kc\n"
        "X = numpy.random.default_rng(0).random((9, 2))\n"
        "assert kc.KernelLLC().fit(X).transform(X).shape == (9, 9)\n"
        "kc.distributed.save\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'kernelcoding[dask]'" in done.stderr
