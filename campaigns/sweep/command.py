"""``python -m campaigns sweep``: all cells, or those of some names."""

from __future__ import annotations

import argparse
import multiprocessing
import re
import time

from .running import Cell, Outcome, all_cells, outcome_of, report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the sweep can be told."""
    parser.add_argument("--cells", default="", help="a regular expression: kernel / coder / task")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--slow", type=float, default=10.0, help="seconds worth a line")


def run(arguments: argparse.Namespace) -> int:
    """Exit code 1 if a cell failed."""
    cells = [cell for cell in all_cells() if re.search(arguments.cells, str(cell))]
    context = multiprocessing.get_context("spawn")
    outcomes = []
    with context.Pool(arguments.processes) as pool:
        for done, (outcome, seconds) in enumerate(pool.imap_unordered(_timed, cells, 4), 1):
            outcomes.append(outcome)
            if outcome.failure:
                print(f"FAILED {outcome.cell}: {outcome.failure}", flush=True)
            if seconds > arguments.slow:
                print(f"slow: {outcome.cell}: {seconds:.1f} s", flush=True)
            if done % 500 == 0:
                print(f"{done} of {len(cells)} cells", flush=True)
    print(report(sorted(outcomes, key=lambda outcome: outcome.cell)), flush=True)
    return 1 if any(outcome.failure for outcome in outcomes) else 0


def _timed(cell: Cell) -> tuple[Outcome, float]:
    start = time.perf_counter()
    return outcome_of(cell), time.perf_counter() - start
