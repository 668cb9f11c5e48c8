"""Files of records while they grow: whole lines, resumed files, locks."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import kernelcoding
from helpers.records import read_lines
from kernelcoding.records import ExperimentRecord, RecordFile, ResultRecord, locked

TOY = ExperimentRecord("toy", title="Toy", protocol="None.")


def result(key, value=1.0):
    return ResultRecord("toy", key, "t", "a", value=value)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "toy.jsonl"


def test_records_come_back_as_they_were_written(path):
    file = RecordFile(path, TOY)
    file.append(result("a/ü/1", 99.5))
    assert RecordFile(path, TOY).keys == {"a/ü/1"} == file.keys
    assert read_lines(path) == [TOY.as_line(), result("a/ü/1", 99.5).as_line()]
    assert path.read_bytes().count(b"\n") == 2


SET_ASIDE = r"last line \(\d\) is damaged. It was moved to toy\.jsonl\.damaged, and its result"


def set_aside(path):
    return path.with_name("toy.jsonl.damaged").read_bytes()


@pytest.mark.parametrize("cut", [2, 5, 20])
def test_a_last_line_cut_short_is_set_aside_and_the_rest_kept(path, cut):
    file = RecordFile(path, TOY)
    file.append(result("a"))
    whole = path.read_bytes()
    file.append(result("b"))
    path.write_bytes(path.read_bytes()[:-cut])
    rest = path.read_bytes()[len(whole) :]
    with pytest.warns(UserWarning, match=SET_ASIDE):
        again = RecordFile(path, TOY)
    assert again.keys == {"a"}
    assert path.read_bytes() == whole
    assert set_aside(path) == rest + b"\n"
    again.append(result("b"))
    assert RecordFile(path, TOY).keys == {"a", "b"}


def test_a_last_line_that_lacks_its_newline_is_kept(path):
    file = RecordFile(path, TOY)
    file.append(result("a"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    again = RecordFile(path, TOY)
    assert again.keys == {"a"}
    assert path.read_bytes() == whole
    again.append(result("b"))
    assert [line.get("key") for line in read_lines(path)] == [None, "a", "b"]
    assert [found.name for found in path.parent.iterdir()] == ["toy.jsonl"]


def test_a_whole_last_line_of_another_version_is_not_touched(path):
    """Nor if it lacks its newline."""
    RecordFile(path, TOY)
    with path.open("a") as file:
        file.write(json.dumps(result("a").as_line() | {"schema": 2}))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"line 2 is no record: expected schema 1, got 2"):
        RecordFile(path, TOY)
    assert path.read_bytes() == before


def test_damaged_lines_are_collected(path):
    RecordFile(path, TOY).append(result("a"))
    for rubbish in (b'{"kind": "result", "val\xff\n', bytes(50), b"\n\n{"):
        with path.open("ab") as file:
            file.write(rubbish)
        with pytest.warns(UserWarning, match=SET_ASIDE):
            assert RecordFile(path, TOY).keys == {"a"}
    assert set_aside(path) == b'{"kind": "result", "val\xff\n' + bytes(50) + b"\n{\n"


def test_a_header_cut_short_starts_the_file_anew(path):
    RecordFile(path, TOY)
    path.write_bytes(path.read_bytes()[:10])
    with pytest.warns(UserWarning, match=SET_ASIDE):
        assert RecordFile(path, TOY).keys == set()
    assert read_lines(path) == [TOY.as_line()]
    assert set_aside(path) == b'{"kind":"e\n'


def test_files_that_are_refused_are_not_touched(path):
    """Neither a line of another run nor a damaged one at its end."""
    RecordFile(path, TOY)
    for damage in (b"", b'{"cut'):
        with path.open("ab") as file:
            file.write(damage)
        before = path.read_bytes()
        with pytest.raises(ValueError, match="cannot be continued"):
            RecordFile(path, replace(TOY, quick=True))
        assert path.read_bytes() == before


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_copy_in_utf_16_is_refused(path, encoding):
    RecordFile(path, TOY).append(result("a"))
    path.write_bytes(path.read_text("utf-8").encode(encoding))
    before = path.read_bytes()
    with pytest.raises(
        ValueError, match=r"toy\.jsonl cannot be continued: .*UTF-16.*Expected UTF-8"
    ):
        RecordFile(path, TOY)
    assert path.read_bytes() == before


def test_a_mark_of_utf_8_is_passed_over(path):
    RecordFile(path, TOY).append(result("a"))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert RecordFile(path, TOY).keys == {"a"}


def test_a_disk_that_takes_a_part_is_given_the_rest(path, monkeypatch):
    file = RecordFile(path, TOY)
    original = os.fdopen

    class Slow:
        def __init__(self, *arguments, **options):
            self.inner = original(*arguments, **options)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.inner.close()

        def write(self, content):
            return self.inner.write(content[:7])

    monkeypatch.setattr(os, "fdopen", Slow)
    file.append(result("a"))
    monkeypatch.undo()
    assert RecordFile(path, TOY).keys == {"a"}


def test_rubbish_in_the_middle_is_not_passed_over(path):
    RecordFile(path, TOY)
    with path.open("ab") as file:
        file.write(b"rubbish\n" + json.dumps(result("a").as_line()).encode() + b"\n")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"toy\.jsonl .* line 2 is no record.*Remove the line"):
        RecordFile(path, TOY)
    assert path.read_bytes() == before


@pytest.mark.parametrize("other", [{"quick": True}, {"experiment": "tay"}])
def test_files_of_other_runs_are_refused(path, other):
    RecordFile(path, TOY)
    with pytest.raises(ValueError, match=rf"cannot be continued.*{next(iter(other))}=.*folder"):
        RecordFile(path, replace(TOY, **other))


def test_files_of_other_versions_are_refused_and_kept(path):
    """A whole line that cannot be read is somebody's result, even where it is the last one."""
    RecordFile(path, TOY)
    path.write_text(json.dumps(TOY.as_line() | {"schema": 2}) + "\n")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"cannot be continued.*schema 1, got 2.*folder"):
        RecordFile(path, TOY)
    assert path.read_bytes() == before
    path.write_text(json.dumps(result("a").as_line()) + "\n")
    with pytest.raises(ValueError, match="it has kind='result', this run kind='experiment'"):
        RecordFile(path, TOY)


def test_what_json_cannot_say_is_refused_and_leaves_no_trace(path):
    file = RecordFile(path, TOY)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="Out of range"):
        file.append(result("a", float("nan")))
    assert path.read_bytes() == before
    assert file.keys == set()


def test_an_experiment_that_has_grown_is_described_anew(path):
    first = RecordFile(path, TOY)
    first.append(result("t/a/None/0", 1.0))
    before = path.read_bytes()
    RecordFile(path, TOY)
    assert path.read_bytes() == before  # nothing new, nothing written
    grown = replace(TOY, protocol="And a second table.")
    assert RecordFile(path, grown).keys == {"t/a/None/0"}
    RecordFile(path, grown)
    kinds = [line["kind"] for line in read_lines(path)]
    assert kinds == ["experiment", "result", "experiment"]
    assert path.read_bytes().startswith(before)


def test_a_lock_keeps_others_out_and_dies_with_its_owner(path):
    # The room needs nothing else of the package, hence no time to import it.
    code = (
        "import sys, time, pathlib\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from records.file import locked\n"
        "with locked(pathlib.Path(sys.argv[1])):\n"
        "    sys.stdout.write('held'); sys.stdout.flush(); time.sleep(60)\n"
    )
    package = Path(kernelcoding.__file__).parent
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(path), str(package)], stdout=subprocess.PIPE
    )
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
