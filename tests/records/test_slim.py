"""Records to keep: the same tables in a tenth of the space."""

import json

import pytest

from helpers import records
from kernelcoding.records import read_runs, tables_of, write_slim


@pytest.fixture
def whole(tmp_path):
    """A file with all that a record may hold."""
    return records.write_runs(tmp_path / "runs", ["virus"])


def test_tables_stay_and_the_rest_goes(whole, tmp_path):
    before = (whole / "virus.jsonl").read_bytes()
    (path,) = write_slim(whole, tmp_path / "kept" / "here")
    (old,), (new,) = read_runs(whole).experiments, read_runs(path).experiments
    assert new.description == old.description
    for name, rows in tables_of(old.results).items():
        kept = tables_of(new.results)[name]
        assert [(row.method, row.size, row.value, row.paper, row.control_of) for row in kept] == [
            (row.method, row.size, row.value, row.paper, row.control_of) for row in rows
        ]
    for slim, result in zip(new.results, old.results, strict=True):
        assert (slim.seconds, slim.nonzeros, slim.seed, slim.versions) == (
            result.seconds, result.nonzeros, result.seed, result.versions
        )  # fmt: skip
        chosen = dict(result.configuration)
        chosen.pop("search_space", None)
        assert dict(slim.configuration) == chosen
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert not any("artifacts" in line or None in line.values() for line in lines)
    assert (whole / "virus.jsonl").read_bytes() == before
    assert path.stat().st_size < len(before) / 3


def test_records_are_not_written_over_themselves(whole):
    before = (whole / "virus.jsonl").read_bytes()
    for source in (whole, whole / "virus.jsonl"):
        with pytest.raises(FileExistsError, match="holds the records themselves"):
            write_slim(source, whole)
    assert (whole / "virus.jsonl").read_bytes() == before


def test_two_experiments_of_one_name_are_refused(whole, tmp_path):
    again = records.write_runs(tmp_path / "more", ["virus"]) / "virus.jsonl"
    with pytest.raises(ValueError, match="Experiments of one name, in different files: virus"):
        write_slim([whole / "virus.jsonl", again], tmp_path / "kept")
