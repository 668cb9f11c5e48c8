"""``python -m campaigns sweep``: counts on the screen, and an exit code."""

import sys

from campaigns import __main__ as command
from campaigns.sweep.running import Cell, Outcome, report


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["campaigns", "sweep", *arguments])
    return command.main()


def test_some_cells_are_run_and_counted(monkeypatch, capsys):
    assert run(monkeypatch, "--cells", "^linear / sparse / (code|update ksvd)$") == 0
    said = capsys.readouterr().out
    assert "2 cells: 1 passed, 1 refused, 0 failed" in said
    assert "refused     1  K-SVD holds the support of greedy codes" in said


def test_failures_of_one_kind_are_one_line():
    cells = [Cell("linear", "sparse", task) for task in ("code", "saved", "weights")]
    outcomes = [Outcome(cell, failure=f"off by {i}.5e-3") for i, cell in enumerate(cells)]
    said = report([*outcomes, Outcome(Cell("linear", "LLC", "code"))])
    assert "4 cells: 1 passed, 0 refused, 3 failed" in said
    assert said.count("FAILED") == 1
    assert "FAILED      3  linear / sparse / code: off by 0.5e-3" in said
