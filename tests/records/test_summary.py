"""The one mean and spread: over splits, by table, and beside the paper's numbers."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helpers import records
from kernelcoding.records import (
    ResultRecord,
    Summary,
    Verdict,
    read_runs,
    summarize,
    tables_of,
    verdict_on,
)
from kernelcoding.records.parsing import result_of
from kernelcoding.records.summary import result_groups


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


LARGEST = sys.float_info.max
huge = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(huge, min_size=1, max_size=6))
@example([1e308, 1e308])
@example([LARGEST] * 3)
@example([LARGEST, -LARGEST])
@example([5e-324, -5e-324, 5e-324])
def test_means_and_spreads_of_any_floats_against_rationals(values):
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    summary = summarize(values)
    assert min(values) <= summary.mean <= max(values)
    size, least_float = max(map(abs, exact)), Fraction(5e-324)
    assert abs(Fraction(summary.mean) - mean) <= size * Fraction(1e-15) + least_float
    if summary.spread is not None:
        variance = sum((value - mean) ** 2 for value in exact) / (len(exact) - 1)
        least, most = (Fraction(summary.spread) * (1 + Fraction(x)) for x in (-1e-12, 1e-12))
        slack = size * Fraction(1e-12) + least_float
        assert max(least - slack, 0) ** 2 <= variance <= (most + slack) ** 2
    else:
        assert len(values) == 1 or max(map(abs, values)) > LARGEST / 2
    assert -LARGEST <= summary.low <= summary.mean <= summary.high <= LARGEST
    assert verdict_on(summary, -LARGEST) is not None


def test_splits_that_are_no_numbers_come_last():
    lines = [records.result("x", "t", "a", 0, 1.0) | {"split": s} for s in ("nan", 1, "b", 0)]
    results = [result_of(line, "") for line in lines]
    (row,) = result_groups(results)
    assert [result.split for result in row.results] == [0, 1, "b", "nan"]


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
    assert verdict_on(Summary(mean, spread, 3), paper) is verdict


def test_signs_tell_verdicts_apart_without_colour():
    assert len({verdict.sign for verdict in Verdict}) == len(Verdict)


def test_rows_are_methods_by_size_with_splits_in_order():
    given = [("b", 20, 10), ("a", None, 0), ("b", 3, 2), ("b", 20, 9)]
    results = [
        result_of(records.result("x", "t", method, split, 1.0, size=size), "")
        for method, size, split in given
    ]
    rows = result_groups(results)
    assert [(row.method, row.size) for row in rows] == [("b", 3), ("b", 20), ("a", None)]
    assert [result.split for result in rows[1].results] == [9, 10]
    assert list(tables_of(results)) == ["t"]


def test_summaries_are_means_and_spreads(tmp_path):
    values = {"kSC": [90.0, 94.0], "SRC": [80.0], "kLLC": [94.0, 96.0], "new": [50.0]}
    paper = {"kSC": 93.0, "SRC": 81.0, "kLLC": 92.0, "new": None}
    lines = [
        records.result(
            "toy", "t", method, split, value, size=7, paper=paper[method], seconds=2.0 + split
        )
        for method, found in values.items()
        for split, value in enumerate(found)
    ]
    (toy,) = read_runs(records.write(tmp_path / "toy.jsonl", lines)).experiments
    rows = {row.method: row for row in tables_of(toy.results)["t"]}
    assert list(rows) == list(values)
    assert rows["kSC"].value.mean == 92.0
    assert rows["kSC"].value.spread == pytest.approx(np.sqrt(8.0))
    assert rows["kSC"].over_splits(lambda result: result.seconds).mean == 2.5
    assert rows["SRC"].value.spread is None
    verdicts = {method: row.verdict and row.verdict.value for method, row in rows.items()}
    assert verdicts == {"kSC": "within spread", "SRC": "below", "kLLC": "better", "new": None}


def test_summaries_are_in_order():
    """However many processes wrote the records."""
    cells = [("t", "b", 20), ("u", "a", None), ("t", "a", 20), ("t", "b", 5), ("t", "a", 5)]
    results = [ResultRecord("x", f"{cell}", *cell[:2], size=cell[2], value=1.0) for cell in cells]
    tables = tables_of(results)
    rows = [(name, row.method, row.size) for name, rows in tables.items() for row in rows]
    expected = [("t", "b", 5), ("t", "b", 20), ("t", "a", 5), ("t", "a", 20), ("u", "a", None)]
    assert rows == expected


def test_one_split_is_judged_by_its_standard_error():
    """90 of 100 right: a standard error of three points."""
    one = Summary(90.0, None, 1)
    assert verdict_on(one, 92.9, 3.0) is Verdict.WITHIN
    assert verdict_on(one, 93.1, 3.0) is Verdict.BELOW
    assert verdict_on(one, 90.04, 3.0) is Verdict.EQUAL
    assert verdict_on(one, 89.0) is Verdict.BETTER
    record = ResultRecord("x", "k", "t", "m", value=90.0, paper=92.9,
                          configuration=(("test_samples", 100),))  # fmt: skip
    (group,) = result_groups([record])
    assert group.standard_error == pytest.approx(3.0)
    assert group.verdict is Verdict.WITHIN
    (two,) = result_groups([record, record])
    assert two.standard_error is None
