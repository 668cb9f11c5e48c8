"""A killed run leaves no process behind."""

import time
from pathlib import Path

import pytest

from helpers.interrupts import start

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no list of processes")

RUN = """
import sys
from kernelcoding.experiments import run
run("digits", out=sys.argv[1], quick=True, n_jobs=2)
"""


def of_session(session):
    """Processes of a session that still run, by number."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(entry.parent.name))
    return found


def until(happened, seconds):
    """Whether something happens in time."""
    end = time.perf_counter() + seconds
    while not happened() and time.perf_counter() < end:
        time.sleep(0.1)
    return happened()


def test_workers_end_with_a_runner_that_was_killed(tmp_path):
    process = start(["-c", RUN, str(tmp_path)], start_new_session=True)
    lines = iter(process.stderr.readline, "")
    assert any("left" in line for line in lines)  # a result is there
    assert len(of_session(process.pid)) >= 3
    process.kill()
    process.wait()
    assert until(lambda: not of_session(process.pid), 5.0), of_session(process.pid)
    process.stdout.close()
    process.stderr.close()
