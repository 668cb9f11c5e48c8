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


def odd(text):
    """A result with this text as one of its settings."""
    return json.dumps(records.result("x", "t", "b", 0, 1.0, configuration={"s": 7})).replace(
        '{"s": 7}', f'{{"s": {text}}}'
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{broken", "line 2 was left out: not JSON"),
        ("[1, 2]", "line 2 was left out: expected a JSON object"),
        ('{"schema": 2, "kind": "result"}', "line 2 was left out: expected schema 1, got 2"),
        ('{"schema": 1, "kind": "song"}', "line 2 was left out: unknown kind song"),
        ('{"schema": 1, "kind": "result"}', "a result needs the name of its method"),
        ("[" * 100_000, "line 2 was left out: lists and objects are nested in more than 32 levels"),
        (odd('{"a":' * 40 + "1" + "}" * 40), "left out: lists and objects are nested in more th"),
        (odd("[" * 600 + "]" * 600), "line 2 was left out: lists and objects are nested in more t"),
        (odd("1" * 5000), "line 2 was left out: a number has 5000 digits"),
        (odd("NaN"), "line 2 was left out: NaN is no number of JSON"),
        (odd("-Infinity"), "line 2 was left out: -Infinity is no number of JSON"),
        (odd('{"a\\u001b[2J": 1, "a\\u001b[2J": 2}'), "left out: the key 'a?[2J' is there twice"),
        ('{"schema": 1, "kind": "\\u001b]0;x"}', "line 2 was left out: unknown kind ?]0;x"),
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


@pytest.mark.parametrize("text", ["1" * 400, "1e999", "[" * 28 + "]" * 28, '{"\\ud800": 1}', "-0"])
def test_odd_lines_that_are_json_are_read(tmp_path, text):
    path = tmp_path / "x.jsonl"
    path.write_text(odd(text) + "\n")
    runs = read_runs(path)
    assert runs.notices == ()
    assert dict(runs.experiments[0].results[0].configuration).keys() == {"s"}


def test_names_of_settings_can_be_written_to_a_file(tmp_path):
    line = records.result(
        "x", "t", "a", 0, 1.0, configuration={"a\ud800": 1}, versions={"\udfff": 2}
    )
    (found,) = read_runs(records.write(tmp_path / "x.jsonl", [line])).experiments[0].results
    assert found.configuration == (("a?", 1),)
    assert found.versions == (("?", 2),)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_copy_in_utf_16_is_left_out_with_a_sentence(tmp_path, encoding):
    path = records.write(tmp_path / "x.jsonl", [records.result("x", "t", "a", 0, 1.0)])
    records.write(tmp_path / "y.jsonl", [records.result("y", "t", "a", 0, 1.0)])
    path.write_bytes(path.read_text("utf-8").encode(encoding))
    runs = read_runs(tmp_path)
    assert [experiment.name for experiment in runs.experiments] == ["y"]
    (notice,) = runs.notices
    assert notice.startswith("x.jsonl was left out: the file is a copy in UTF-16")
    with pytest.raises(ValueError, match=r"No result in x\.jsonl.* UTF-16.*Expected UTF-8"):
        read_runs(path)


def test_a_mark_of_utf_8_is_passed_over(tmp_path):
    path = records.write(tmp_path / "x.jsonl", [records.result("x", "t", "a", 0, 1.0)])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_runs(path).notices == ()


def test_a_last_line_without_its_newline_counts(tmp_path):
    path = records.write(tmp_path / "x.jsonl", [records.result("x", "t", "a", 0, 1.0)])
    path.write_bytes(path.read_bytes()[:-1])
    assert read_runs(path).notices == ()


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
