"""Files of records whose writer dies: one line is lost at most, and a new run completes them."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from numpy.random import Generator

from kernelcoding.records import ExperimentRecord, RecordFile, ResultRecord, locked, read_runs
from kernelcoding.records.parsing import record_of

from .base import Case, Failure

DESCRIPTION = ExperimentRecord("toy", "Toy", "None.", "", "accuracy", False)
N_RESULTS = 12
# Memory where there is some: a kill is what is tried here, not a disk.
MEMORY = Path("/dev/shm")
FOLDER = MEMORY if os.access(MEMORY, os.W_OK) else None


def result(index: int, padding: int) -> ResultRecord:
    """A result that is recognised by its value."""
    line = {
        "kind": "result",
        "schema": 1,
        "experiment": "toy",
        "key": f"key {index}",
        "table": "Table",
        "method": "ü" * padding + f"method {index}",
        "split": index,
        "value": float(index),
    }
    record = record_of(line, "toy.jsonl")
    assert isinstance(record, ResultRecord)
    return record


class RecordFiles:
    """Kill writers, cut files, and go on."""

    name = "record-files"
    counts = "faults"
    share = 1.0

    def draw(self, rng: Generator) -> Case:
        """A kill after some time, or a cut after some bytes, several times in turn."""
        faults = []
        for _ in range(int(rng.integers(1, 4))):
            kind = "kill" if rng.random() < 0.4 else str(rng.choice(["cut", "cut", "garbage"]))
            fault: Case = {"kind": kind, "seconds": float(rng.exponential(0.002))}
            fault |= {"share": float(rng.random()), "bytes": bytes(rng.integers(0, 256, 9, "u1"))}
            faults.append(fault)
        return {"faults": faults, "padding": int(rng.choice([0, 3, 400, 5000]))}

    def label(self, case: Case) -> str:
        """Kinds of faults."""
        return " ".join(fault["kind"] for fault in case["faults"])

    def check(self, case: Case) -> int:
        """Every fault in turn; what was whole before is whole after."""
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = Path(folder) / "toy.jsonl"
            for fault in case["faults"]:
                if fault["kind"] == "kill" or not path.exists():
                    _write_and_die(path, case["padding"], fault["seconds"])
                if fault["kind"] != "kill" and path.exists():
                    _damage(path, fault)
                _survives(path)
            _write_all(path, case["padding"])
            _complete(path)
        return len(case["faults"])

    def smaller(self, case: Case) -> Iterator[Case]:
        """Fewer faults, shorter lines."""
        for index in range(len(case["faults"]) if len(case["faults"]) > 1 else 0):
            yield {**case, "faults": case["faults"][:index] + case["faults"][index + 1 :]}
        if case["padding"]:
            yield {**case, "padding": 0}

    def close(self) -> None:
        """Every writer is dead already."""


def _write_all(path: Path, padding: int) -> None:
    """What a run does: take the lock, continue the file, add what is missing."""
    with locked(path):
        file = RecordFile(path, DESCRIPTION)
        for index in range(N_RESULTS):
            record = result(index, padding)
            if record.key not in file.keys:
                file.append(record)


def _write_and_die(path: Path, padding: int, seconds: float) -> None:
    child = os.fork()
    if child == 0:
        try:
            _write_all(path, padding)
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _damage(path: Path, fault: Case) -> None:
    """The last line cut short, or what a power failure leaves in its place."""
    content = path.read_bytes()
    start = content.rstrip(b"\n").rfind(b"\n") + 1
    place = start + int(fault["share"] * (len(content) - start))
    rest = fault["bytes"].replace(b"\n", b"\r") if fault["kind"] == "garbage" else b""
    path.write_bytes(content[:place] + rest)


def _whole_lines(path: Path) -> dict[str, float]:
    """Results of the lines that are whole, by JSON alone."""
    found = {}
    for line in path.read_bytes().split(b"\n")[:-1] if path.exists() else ():
        try:
            content = json.loads(line)
        except ValueError:
            continue
        if isinstance(content, dict) and content.get("kind") == "result":
            found[content["key"]] = content["value"]
    return found


def _survives(path: Path) -> None:
    """The reader has every whole line, and nothing that was never written."""
    whole = _whole_lines(path)
    if not path.exists() or not whole:
        return
    read = {}
    for experiment in read_runs(path).experiments:
        read |= {record.key: record.value for record in experiment.results}
    missing = set(whole) - set(read)
    if missing:
        raise Failure(f"whole lines were not read: {sorted(missing)}")
    _true(read)
    before = whole
    with locked(path):
        RecordFile(path, DESCRIPTION)
    if not set(before) <= set(_whole_lines(path)):
        raise Failure("continuing the file lost whole lines")


def _complete(path: Path) -> None:
    found = _whole_lines(path)
    if len(found) != N_RESULTS:
        raise Failure(f"the continued file has {len(found)} of {N_RESULTS} results")
    _true(found)
    notices = read_runs(path).notices
    if notices:
        raise Failure(f"the continued file has unreadable lines: {notices}")


def _true(values: dict[str, float]) -> None:
    for key, value in values.items():
        if value != float(key.removeprefix("key ")):
            raise Failure(f"{key} has the value {value}")
