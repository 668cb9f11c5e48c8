"""Reading records: what is kept, what is left out, and how splits become numbers."""

import json
import math

import numpy as np
import pytest

from helpers import records
from kernelcoding.report import formats
from kernelcoding.report.reading import read_runs
from kernelcoding.report.records import artifacts_of, image, number, result_of
from kernelcoding.report.statistics import Summary, Verdict, grouped, judge, summarize, tables_of
from kernelcoding.report.svg import Scale, round_numbers

# Files


def test_a_folder_is_read_by_name_and_files_as_given(tmp_path):
    records.write_runs(tmp_path, ("yaleb", "digits"))
    (tmp_path / "notes.txt").write_text("not a record")
    names = [experiment.name for experiment in read_runs(tmp_path).experiments]
    assert names == ["digits", "yaleb"]
    files = [tmp_path / "yaleb.jsonl", tmp_path / "digits.jsonl"]
    assert [e.name for e in read_runs(files).experiments] == ["yaleb", "digits"]
    (one,) = read_runs(str(files[0])).experiments
    assert one.header.title == "Extended YaleB"
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


# Values


@pytest.mark.parametrize("value", [None, True, "3", math.nan, math.inf, 10**400, [], {}])
def test_what_is_no_finite_number_is_absent(value):
    assert number(value) is None


@pytest.mark.parametrize(
    "uri",
    [
        "https://example.org/x.png",
        "data:image/svg+xml;base64,PHN2Zz4=",
        "data:text/html;base64,PHN2Zz4=",
        'data:image/png;base64,AAAA" onerror="x',
        "data:image/png;base64,AAAA\n",
        "data:image/png,AAAA",
        "javascript:alert(1)",
        5,
    ],
)
def test_only_pictures_within_the_text_are_admitted(uri):
    assert image(uri) is None
    assert artifacts_of({"atom_images": [uri]}).atom_images == ()


def test_png_and_jpeg_are_admitted():
    png = records.png(np.eye(3))
    assert image(png) == png
    assert image("data:image/jpeg;base64,/9j/4AA=") is not None


def test_parts_without_the_promised_form_are_absent():
    found = artifacts_of(
        {
            "objective_history": [1.0, "two"],
            "objective_steps": ["codes"],
            "kernel_history": [2.0, 1.0],
            "classes": ["a", "b"],
            "confusion": [[1, 0], [0]],
            "per_class": {"a": 1.0, "b": None},
            "examples": [{}, 5, {"atoms": [{"weight": "x"}, {"weight": 1}, {"weight": -2.0}]}],
        }
    )
    assert found.objective_history == found.objective_steps == found.confusion == ()
    assert found.kernel_history == (2.0, 1.0)
    assert found.per_class == (("a", 1.0),)
    assert [atom.weight for atom in found.examples[0].atoms] == [-2.0, 1.0]  # strongest first
    assert artifacts_of({"classes": ["a"], "confusion": [[-1]]}).confusion == ()
    assert artifacts_of({}).confusion == ()


def test_half_characters_do_not_reach_a_file():
    line = json.loads(json.dumps(records.result("x", "t", "a\ud800", 0, 1.0)))
    assert result_of(line, "").method == "a?"


# Statistics


def test_means_and_spreads_against_numpy(rng):
    values = rng.normal(80, 3, size=7)
    summary = summarize(values.tolist())
    assert summary.mean == pytest.approx(values.mean(), rel=1e-14)
    assert summary.spread == pytest.approx(values.std(ddof=1), rel=1e-12)
    assert (summary.low, summary.high) == pytest.approx(
        (values.mean() - values.std(ddof=1), values.mean() + values.std(ddof=1))
    )
    assert summarize([None, 3.0, None]) == Summary(3.0, None, 1)
    assert summarize([None]) == Summary(None, None, 0)


@pytest.mark.parametrize(
    ("mean", "spread", "paper", "verdict"),
    [
        (97.0, 0.5, 96.4, Verdict.BETTER),
        (97.0, 0.5, 96.6, Verdict.WITHIN),
        (97.0, 0.5, 97.5, Verdict.WITHIN),
        (97.0, 0.5, 97.6, Verdict.BELOW),
        (97.04, None, 97.0, Verdict.EQUAL),
        (97.06, None, 97.0, Verdict.BETTER),
        (96.9, None, 97.0, Verdict.BELOW),
        (97.04, 0.0, 97.0, Verdict.WITHIN),
        (97.0, 0.5, None, None),
        (None, None, 97.0, None),
    ],
)
def test_verdicts(mean, spread, paper, verdict):
    assert judge(Summary(mean, spread, 3), paper) is verdict


def test_signs_tell_verdicts_apart_without_colour():
    assert len({verdict.sign for verdict in Verdict}) == len(Verdict)


def test_rows_are_methods_by_size_with_splits_in_order():
    given = [("b", 20, 10), ("a", None, 0), ("b", 3, 2), ("b", 20, 9)]
    results = [
        result_of(records.result("x", "t", method, split, 1.0, size=size), "")
        for method, size, split in given
    ]
    rows = grouped(results)
    assert [(row.method, row.size) for row in rows] == [("b", 3), ("b", 20), ("a", None)]
    assert [result.split for result in rows[1].results] == ["9", "10"]
    assert list(tables_of(results)) == ["t"]


# Words and scales


def test_numbers_are_written_one_way():
    assert formats.decimal(96.94) == "96.9"
    assert formats.decimal(-0.04) == "0.0"
    assert formats.decimal(-1.25, 2) == "\u22121.25"
    assert formats.decimal(12345.6) == "12\u202f345.6"
    assert formats.decimal(None) == "—"
    signed = [formats.signed(x) for x in (0.5, -0.5, 0.01, None)]
    assert signed == ["+0.5", "\u22120.5", "0.0", "—"]
    assert formats.interval(Summary(96.94, 0.41, 5)) == "96.9\u202f±\u202f0.4"
    assert formats.interval(Summary(96.94, None, 1)) == "96.9"
    assert [formats.duration(x) for x in (12.34, 600, 7200)] == ["12.3 s", "10.0 min", "2.0 h"]
    assert [formats.counted(n, "split") for n in (1, 2)] == ["1 split", "2 splits"]
    assert formats.plain({"a": [1, "é"]}) == '{"a": [1, "é"]}'
    assert [formats.places(x) for x in ([0.5, None], [12], [2000.0], [])] == [2, 1, 0, 2]


def test_scales_are_affine_in_the_value_or_its_logarithm():
    assert [Scale(10, 20, 0, 100)(v) for v in (10, 15, 20)] == [0, 50, 100]
    assert [Scale(1, 100, 50, 0, True)(v) for v in (1, 10, 100)] == pytest.approx([50, 25, 0])
    assert Scale(5, 5, 0, 100)(5) == 50


@pytest.mark.parametrize(("low", "high"), [(0, 1), (38.2, 61.7), (-3e-4, 2e-4), (1e5, 9e6)])
def test_ticks_are_round_and_inside(low, high):
    ticks = round_numbers(low, high, 5)
    assert 3 <= len(ticks) <= 7
    assert low <= ticks[0]
    assert ticks[-1] <= high
    step = ticks[1] - ticks[0]
    np.testing.assert_allclose(np.diff(ticks), step)
    assert np.isclose(step / 10 ** np.floor(np.log10(step * 1.0001)), [1, 2, 2.5, 5, 10]).any()


def test_logarithmic_ticks_are_one_two_five():
    assert Scale(0.9, 60, 0, 1, True).ticks() == [1, 2, 5, 10, 20, 50]
    assert Scale(1, 1e6, 0, 1, True).ticks() == [10.0**p for p in range(7)]
