"""Run campaigns for some minutes, shrink what fails, and write it to files that replay.

Every campaign has a process of its own, so that a crash is one more failure and not the end.
"""

from __future__ import annotations

import multiprocessing
import re
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from queue import Empty

import numpy as np

from .base import Campaign, Case, Failure, write_case
from .known import KNOWN

FAILURES = Path(__file__).parent / "failures"
SECONDS_TO_SHRINK = 8.0
KEPT_FILES = 20  # of a campaign; further failures are counted


@dataclass
class Tally:
    """What a campaign has seen."""

    campaign: str
    counts: str
    cases: int = 0
    looked_at: int = 0
    seconds: float = 0.0
    families: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)  # what replays each of them
    known: Counter[str] = field(default_factory=Counter)

    def line(self) -> str:
        """One line of the table."""
        rate = 60.0 * self.looked_at / max(self.seconds, 1e-9)
        known = f", {sum(self.known.values())} known" if self.known else ""
        return (
            f"{self.campaign:<14} {self.looked_at:>9} {self.counts:<8} {rate:>9.0f} per minute "
            f"{len(self.failures):>4} failures{known}"
        )


def run(
    campaign: Campaign,
    seed: int,
    *,
    seconds: float = np.inf,
    cases: float = np.inf,
    folder: Path = FAILURES,
    progress: Synchronized | None = None,
) -> Tally:
    """Check cases until the time or their number is used up."""
    tally, start = Tally(campaign.name, campaign.counts), time.monotonic()
    try:
        while tally.cases < cases and time.monotonic() - start < seconds:
            index = tally.cases
            if progress is not None:
                progress.value = index
            case = case_of(campaign, seed, index)
            tally.cases += 1
            message = failure_of(campaign, case, tally)
            if message:
                record(campaign, case, message, f"{seed}-{index}", tally, folder)
    finally:
        campaign.close()
    tally.seconds = time.monotonic() - start
    return tally


def case_of(campaign: Campaign, seed: int, index: int) -> Case:
    """The case of that number, the same in every run."""
    return campaign.draw(np.random.default_rng([seed, index]))


def failure_of(campaign: Campaign, case: Case, tally: Tally | None = None) -> str:
    """What a check says; nothing if all is well."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            looked_at = campaign.check(case)
    except Failure as failure:
        return str(failure)
    except Exception as error:  # whatever it is, nobody promised it
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return f"{type(error).__name__} from {where}: {str(error)[:300]}"
    if tally is not None:
        tally.looked_at += looked_at
        tally.families[campaign.label(case)] += looked_at
    return ""


def record(
    campaign: Campaign, case: Case, message: str, name: str, tally: Tally, folder: Path
) -> None:
    """Count a failure; write the smallest case that fails like it."""
    for known in KNOWN:
        if (
            known.campaign == campaign.name
            and re.search(known.family, campaign.label(case))
            and re.search(known.message, message)
        ):
            tally.known[known.reason] += 1
            return
    path = folder / f"{campaign.name}-{name}.json"
    if len(tally.failures) < KEPT_FILES:
        small = shrink(campaign, case, message)
        write_case(path, campaign.name, small, failure_of(campaign, small) or message)
        print(f"FAILED {campaign.name}, {campaign.label(small)}: {message}", flush=True)
        print(f"  replay with: python -m campaigns replay {path}", flush=True)
    tally.failures.append(f"{campaign.label(case)}: {message}")


def shrink(campaign: Campaign, case: Case, message: str) -> Case:
    """The smallest case found that fails with the same kind of message."""
    kind, end = kind_of(message), time.monotonic() + SECONDS_TO_SHRINK
    changed = True
    while changed:
        changed = False
        for smaller in campaign.smaller(case):
            if time.monotonic() > end:
                return case
            if kind_of(failure_of(campaign, smaller)) == kind:
                case, changed = smaller, True
                break
    return case


def kind_of(message: str) -> str:
    """A message without its numbers."""
    return re.sub(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?|\binf\b|\bnan\b", "#", message)[:60]


def run_in_a_process(make: Callable[[], Campaign], seed: int, seconds: float) -> Tally:
    """A campaign in a process of its own; its crash is a failure with a file."""
    context = multiprocessing.get_context("spawn")
    queue, progress = context.Queue(), context.Value("q", -1)
    worker = context.Process(target=_work, args=(make, seed, seconds, queue, progress))
    worker.start()
    tally = None
    while tally is None and (worker.is_alive() or not queue.empty()):
        try:
            tally = queue.get(timeout=1.0)
        except Empty:
            continue
    worker.join()
    if tally is not None:
        return tally
    campaign = make()
    tally = Tally(campaign.name, campaign.counts, cases=progress.value, seconds=seconds)
    case, message = case_of(campaign, seed, progress.value), f"crash, exit code {worker.exitcode}"
    path = FAILURES / f"{campaign.name}-{seed}-{progress.value}.json"
    write_case(path, campaign.name, case, message)
    print(f"FAILED {campaign.name}: {message}\n  replay with: python -m campaigns replay {path}")
    tally.failures.append(message)
    return tally


def _work(
    make: Callable[[], Campaign],
    seed: int,
    seconds: float,
    queue: multiprocessing.Queue,
    progress: Synchronized,
) -> None:
    queue.put(run(make(), seed, seconds=seconds, progress=progress))
