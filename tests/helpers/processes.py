"""Running a script in a Python of its own, or here."""

import contextlib
import io
import os
import subprocess
import sys
import textwrap
from functools import cache


def run_python(script, disable_jit="0"):
    """What the script prints, with warnings as errors, compiled or as plain Python."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": disable_jit}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.replace("-0.0,", "0.0,")


def run_here(script):
    """What the script prints in this Python, with a namespace of its own."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(textwrap.dedent(script), {"__name__": "__main__"})
    return said.getvalue().replace("-0.0,", "0.0,")


IMPORTS = """
import sys
def loaded(): print(*sys.modules)
import kernelcoding; loaded()
import kernelcoding.solvers.active_set, kernelcoding.solvers.group; loaded()
import kernelcoding.images; loaded()
"""


@cache
def loaded_modules():
    """What a fresh Python has loaded: after the package, after two solvers, after images."""
    package, solvers, images = (set(line.split()) for line in run_python(IMPORTS).splitlines())
    return {"package": package, "solvers": solvers, "images": images}
