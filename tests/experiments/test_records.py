"""Files of records: whole lines, resumed files, locks, summaries."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from kernelcoding.experiments import read_records, summarize
from kernelcoding.experiments.cache import Cache, identities
from kernelcoding.experiments.lock import locked
from kernelcoding.experiments.records import RecordFile

HEADER = {"kind": "experiment", "schema": 1, "experiment": "toy", "quick": False}


def result(key, value=1.0, **more):
    return {"kind": "result", "key": key, "value": value, **more}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "toy.jsonl"


def test_records_come_back_as_they_were_written(path):
    file = RecordFile(path, HEADER)
    file.append(result("a/ü/1", 99.5))
    assert RecordFile(path, HEADER).keys == {"a/ü/1"} == file.keys
    assert read_records(path) == [HEADER, result("a/ü/1", 99.5)]
    assert path.read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_last_line_cut_short_is_dropped_and_the_rest_kept(path, cut):
    file = RecordFile(path, HEADER)
    file.append(result("a"))
    whole = path.read_bytes()
    file.append(result("b"))
    path.write_bytes(path.read_bytes()[:-cut])
    assert [record.get("key") for record in read_records(path)] == [None, "a"]
    again = RecordFile(path, HEADER)
    assert again.keys == {"a"}
    assert path.read_bytes() == whole
    again.append(result("b"))
    assert RecordFile(path, HEADER).keys == {"a", "b"}


def test_a_last_line_of_rubbish_is_dropped_too(path):
    RecordFile(path, HEADER).append(result("a"))
    with path.open("ab") as file:
        file.write(b'{"kind": "result", "val\xff\n')
    assert RecordFile(path, HEADER).keys == {"a"}


def test_a_header_cut_short_starts_the_file_anew(path):
    RecordFile(path, HEADER)
    path.write_bytes(path.read_bytes()[:10])
    assert RecordFile(path, HEADER).keys == set()
    assert read_records(path) == [HEADER]


def test_rubbish_in_the_middle_is_not_passed_over(path):
    RecordFile(path, HEADER)
    with path.open("ab") as file:
        file.write(b"rubbish\n" + json.dumps(result("a")).encode() + b"\n")
    with pytest.raises(ValueError, match=r"Line 2 of .*toy\.jsonl is no record.*Remove the line"):
        RecordFile(path, HEADER)


@pytest.mark.parametrize("other", [{"quick": True}, {"experiment": "tay"}, {"schema": 2}])
def test_files_of_other_runs_are_refused(path, other):
    RecordFile(path, HEADER)
    with pytest.raises(ValueError, match=rf"cannot be continued.*{next(iter(other))}=.*folder"):
        RecordFile(path, {**HEADER, **other})


def test_what_json_cannot_say_is_refused_and_leaves_no_trace(path):
    file = RecordFile(path, HEADER)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="Out of range"):
        file.append(result("a", float("nan")))
    assert path.read_bytes() == before


def test_a_lock_keeps_others_out_and_dies_with_its_owner(path):
    code = (
        "import sys, time, pathlib\n"
        "from kernelcoding.experiments.lock import locked\n"
        "with locked(pathlib.Path(sys.argv[1])):\n"
        "    sys.stdout.write('held'); sys.stdout.flush(); time.sleep(60)\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    try:
        assert owner.stdout.read(4) == b"held"
        expected = rf"process {owner.pid}\) is writing .*toy\.jsonl.*another folder"
        with pytest.raises(BlockingIOError, match=expected), locked(path):
            pass
    finally:
        owner.kill()
        owner.communicate()
    with locked(path):
        pass
    with locked(path):  # and it is given back
        pass


def test_summaries_are_means_and_spreads(path):
    file = RecordFile(path, HEADER)
    values = {"kSC": [90.0, 94.0], "SRC": [80.0], "kLLC": [94.0, 96.0], "new": [50.0]}
    paper = {"kSC": 93.0, "SRC": 81.0, "kLLC": 92.0, "new": None}
    for method, found in values.items():
        for split, value in enumerate(found):
            record = result(f"t/{method}/{split}", value, table="t", method=method, size=7)
            file.append({**record, "paper": paper[method], "seconds": 2.0 + split})
    rows = {row.method: row for row in summarize(path)}
    assert list(rows) == list(values)
    assert rows["kSC"].mean == 92.0
    assert rows["kSC"].deviation == pytest.approx(np.sqrt(8.0))
    assert rows["kSC"].seconds == 2.5
    assert rows["SRC"].deviation is None
    verdicts = {method: row.verdict for method, row in rows.items()}
    assert verdicts == {"kSC": "within spread", "SRC": "below", "kLLC": "better", "new": ""}


def test_an_experiment_that_has_grown_is_described_anew(path):
    first = RecordFile(path, HEADER)
    first.append(result("t/a/None/0", 1.0))
    before = path.read_bytes()
    RecordFile(path, HEADER)
    assert path.read_bytes() == before  # nothing new, nothing written
    grown = {**HEADER, "protocol": "And a second table."}
    assert RecordFile(path, grown).keys == {"t/a/None/0"}
    RecordFile(path, grown)
    kinds = [record["kind"] for record in read_records(path)]
    assert kinds == ["experiment", "result", "experiment"]
    assert path.read_bytes().startswith(before)


def test_summaries_are_in_order(path):
    """However many processes wrote the records."""
    file = RecordFile(path, HEADER)
    cells = [("t", "b", 20), ("u", "a", None), ("t", "a", 20), ("t", "b", 5), ("t", "a", 5)]
    for table, method, size in cells:
        record = result(f"{table}/{method}/{size}/0", 1.0, table=table, method=method, size=size)
        file.append({**record, "paper": None, "seconds": 1.0})
    rows = [(row.table, row.method, row.size) for row in summarize(path)]
    expected = [("t", "b", 5), ("t", "b", 20), ("t", "a", 5), ("t", "a", 20), ("u", "a", None)]
    assert rows == expected


def test_arrays_are_computed_once_for_what_they_depend_on(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return np.arange(6.0).reshape(2, 3) + len(calls)

    cache = Cache(tmp_path / "cache")
    first = cache.array("words", ["a", "b"], compute)
    np.testing.assert_array_equal(cache.array("words", ["a", "b"], compute), first)
    assert len(calls) == 1
    assert not (cache.array("words", ["ab"], compute) == first).any()
    with pytest.raises(ZeroDivisionError):
        cache.array("words", ["c"], lambda: 1 / 0)
    assert len(list((tmp_path / "cache").iterdir())) == 2  # nothing half-made is left


def test_a_changed_file_is_another_dependency(tmp_path):
    file = tmp_path / "image.png"
    file.write_bytes(b"1")
    before = identities([str(file)])
    assert identities([str(file)]) == before
    file.write_bytes(b"22")
    assert identities([str(file)]) != before
    os.utime(file, ns=(1, 1))
    assert identities([str(file)]) == [f"{tmp_path.name}/image.png 2 1"]
