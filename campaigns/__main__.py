"""``python -m campaigns``: run for some minutes, replay a failure, or sweep over all."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from random import SystemRandom

from .base import read_case
from .registry import CAMPAIGNS
from .runner import FAILURES, Tally, failure_of, run_in_a_process
from .sweep import command as sweep


def main() -> int:
    """Exit code 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m campaigns", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    run = commands.add_parser("run", help="run campaigns (the default)")
    for place in (parser, run):
        place.add_argument("--minutes", type=float, default=5.0, help="for all campaigns together")
        place.add_argument("--seed", type=int, default=None, help="default: a new one each time")
        place.add_argument("--only", nargs="*", choices=list(CAMPAIGNS), help="which campaigns")
        place.add_argument("--counts", type=Path, help="add the counts to this JSON file")
    replay = commands.add_parser("replay", help="check the case of a file")
    replay.add_argument("files", nargs="+", type=Path)
    swept = commands.add_parser("sweep", help="every kernel with every coder in every task")
    sweep.add_arguments(swept)
    arguments = parser.parse_args()
    if arguments.command == "sweep":
        return sweep.run(arguments)
    if arguments.command == "replay":
        return max(_replay(path) for path in arguments.files)
    seed = SystemRandom().randrange(10**6) if arguments.seed is None else arguments.seed
    return _run(arguments.only or list(CAMPAIGNS), seed, arguments.minutes, arguments.counts)


def _run(names: list[str], seed: int, minutes: float, counts: Path | None) -> int:
    print(f"seed {seed}: python -m campaigns --seed {seed} --minutes {minutes:g}", flush=True)
    shares = {name: CAMPAIGNS[name].share for name in names}
    tallies = []
    for name in names:
        seconds = 60.0 * minutes * shares[name] / sum(shares.values())
        tallies.append(run_in_a_process(CAMPAIGNS[name], seed, seconds))
        print(tallies[-1].line(), flush=True)
    if counts is not None:
        _add_counts(counts, tallies)
    failed = sum(len(tally.failures) for tally in tallies)
    known = sum((tally.known for tally in tallies), Counter())
    for reason, count in known.most_common():
        print(f"known: {count} times {reason}")
    if failed:
        print(f"{failed} failures; their smallest cases are in {FAILURES}.")
        print(f"Replay with: python -m campaigns replay {FAILURES}/NAME.json")
    return 1 if failed else 0


def _add_counts(path: Path, tallies: list[Tally]) -> None:
    """Sums over runs: campaign -> looked at, seconds, failures, known."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for tally in tallies:
        before = Counter(found.get(tally.campaign, {}))
        now = {"looked_at": tally.looked_at, "cases": tally.cases, "seconds": tally.seconds}
        now |= {"failures": len(tally.failures), "known": sum(tally.known.values())}
        found[tally.campaign] = {name: before[name] + value for name, value in now.items()}
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _replay(path: Path) -> int:
    name, case = read_case(path)
    campaign = CAMPAIGNS[name]()
    try:
        message = failure_of(campaign, case)
    finally:
        campaign.close()
    print(f"{path}: {campaign.label(case)}: {message or 'all is well'}")
    return 1 if message else 0


if __name__ == "__main__":
    sys.exit(main())
