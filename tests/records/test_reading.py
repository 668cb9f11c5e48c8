"""Folders and files of records: what is kept, and what is left out with a notice."""

import json

import pytest

from helpers import records
from kernelcoding.records import read_runs


def test_a_folder_is_read_by_name_and_files_as_given(tmp_path):
    records.write_runs(tmp_path, ("yaleb", "digits"))
    (tmp_path / "notes.txt").write_text("not a record")
    names = [experiment.name for experiment in read_runs(tmp_path).experiments]
    assert names == ["digits", "yaleb"]
    files = [tmp_path / "yaleb.jsonl", tmp_path / "digits.jsonl"]
    assert [e.name for e in read_runs(files).experiments] == ["yaleb", "digits"]
    (one,) = read_runs(str(files[0])).experiments
    assert one.description.title == "Extended YaleB"
    assert len(one.results) == 42


def test_a_last_line_cut_short_is_left_out_with_a_notice(tmp_path):
    path = records.write_runs(tmp_path, ("digits",)) / "digits.jsonl"
    whole = read_runs(path)
    assert whole.notices == ()
    path.write_bytes(path.read_bytes()[:-40])
    runs = read_runs(path)
    assert runs.notices == ("digits.jsonl: the last line (4) is cut short and was left out.",)
    assert runs.experiments[0].results == whole.experiments[0].results[:-1]


def test_a_cut_within_a_character_is_a_cut(tmp_path):
    lines = [records.header("x"), records.result("x", "t", "a", 0, 1.0)]
    path = records.write(tmp_path / "x.jsonl", lines)
    path.write_bytes(path.read_bytes() + '{"kind": "é'.encode()[:-1])
    assert "cut short" in read_runs(path).notices[0]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{broken", "line 2 was left out: not JSON"),
        ("[1, 2]", "line 2 was left out: expected a JSON object"),
        ('{"schema": 2, "kind": "result"}', "line 2 was left out: expected schema 1, got 2"),
        ('{"schema": 1, "kind": "song"}', "line 2 was left out: unknown kind song"),
        ('{"schema": 1, "kind": "result"}', "a result needs the name of its method"),
        ("[" * 100_000, "line 2 was left out"),
    ],
)
def test_other_bad_lines_are_left_out_too(tmp_path, line, reason):
    good = json.dumps(records.result("x", "t", "a", 0, 1.0))
    path = tmp_path / "x.jsonl"
    path.write_text(f"{good}\n{line}\n\n{good.replace('t/a', 't/b')}\n")
    runs = read_runs(path)
    assert len(runs.notices) == 1
    assert reason in runs.notices[0]
    assert len(runs.experiments[0].results) == 2


def test_a_line_written_again_replaces_the_first(tmp_path):
    lines = [records.result("x", "t", "a", 0, value) for value in (1.0, 2.0)]
    (result,) = read_runs(records.write(tmp_path / "x.jsonl", lines)).experiments[0].results
    assert result.value == 2.0
    assert result.source == "x.jsonl, line 2"


def test_the_same_experiment_in_two_files_stays_apart(tmp_path):
    for name, value in (("full", 1.0), ("quick", 2.0)):
        records.write(tmp_path / f"{name}.jsonl", [records.result("x", "t", "a", 0, value)])
    found = read_runs(tmp_path).experiments
    assert [(e.name, e.results[0].value) for e in found] == [("x", 1.0), ("x", 2.0)]


def test_nothing_to_report_is_said(tmp_path):
    with pytest.raises(ValueError, match=r"No records in the folder .*expected \.jsonl files"):
        read_runs(tmp_path)
    path = records.write(tmp_path / "x.jsonl", [records.header("x")])
    with pytest.raises(ValueError, match=r"No result in x\.jsonl.*Run an experiment first"):
        read_runs(tmp_path)
    path.write_text("{")
    with pytest.raises(ValueError, match="is cut short"):
        read_runs(path)
    with pytest.raises(FileNotFoundError, match="no file of records"):
        read_runs(tmp_path / "missing")
    with pytest.raises(ValueError, match="No files of records were given"):
        read_runs([])
