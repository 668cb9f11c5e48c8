"""Running a script in a Python of its own."""

import os
import subprocess
import sys
import textwrap


def run_python(script, disable_jit="0"):
    """What the script prints, with warnings as errors, compiled or as plain Python."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": disable_jit}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.replace("-0.0,", "0.0,")
