"""Ctrl-C at any time of a command, in real processes: one word and exit code 130."""

import sys

import pytest

from helpers.interrupts import ended_by_interrupt, start

pytest.importorskip("typer")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process here")

COMMAND = "from kernelcoding_command import main; print(1, flush=True); main()"
LATE = 10.0  # seconds; a fraction of one on an idle machine


@pytest.mark.parametrize("seconds", [0.1, 0.4, 3.0])
@pytest.mark.parametrize(
    "arguments", [["demo"], ["reproduce", "digits", "--quick", "--n-jobs", "2"]], ids=" ".join
)
def test_an_interrupted_command_says_so(arguments, seconds, tmp_path):
    process = start(["-c", COMMAND, *arguments], cwd=tmp_path)
    assert process.stdout.readline() == "1\n"  # imports of the command begin
    code, errors, late = ended_by_interrupt(process, seconds)
    assert code == 130, errors
    assert errors.splitlines()[-1] == "Interrupted."
    assert "Traceback" not in errors
    assert late < LATE
