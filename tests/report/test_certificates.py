"""Certificates on the page: largest gaps and mean errors against the records."""

import re

import numpy as np
import pytest

from helpers import records
from kernelcoding.records.parsing import artifacts_of, result_of
from kernelcoding.records.summary import result_groups
from kernelcoding.report import formats, write_report
from kernelcoding.report.tables import CERTIFICATES, ERROR, GAP, PageTable, results_table

RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def certified(method, split, table="t", **certificate):
    return records.result(
        "x", table, method, split, 90.0 + split, artifacts={"certificate": certificate}
    )


def table_of(lines):
    groups = result_groups([result_of(line, "") for line in lines])
    return results_table("t", groups, "Accuracy", [f"r{i}" for i in range(len(groups))])


def cells(table: PageTable, title):
    position = [column.title for column in table.columns].index(title)
    return {row[0].text: row[position] for row in table.rows}


def test_the_largest_gap_and_the_mean_error_of_the_splits(rng):
    gaps, errors = 10.0 ** rng.uniform(-12, -2, (3, 5)), rng.uniform(0.01, 0.3, (3, 5))
    lines = [
        certified(f"m{m}", split, gap=gaps[m, split], error=errors[m, split])
        for m in range(3)
        for split in range(5)
    ]
    table = table_of(lines)
    for m in range(3):
        assert cells(table, GAP)[f"m{m}"].order == gaps[m].max()
        mean = 100 * errors[m].mean()
        assert cells(table, ERROR)[f"m{m}"].order == pytest.approx(mean, rel=1e-12)
        assert cells(table, ERROR)[f"m{m}"].text == f"{mean:.1f}"
    assert table.note == CERTIFICATES
    assert all(column.sortable for column in table.columns)


def test_a_bound_that_one_split_lacks_is_no_bound():
    lines = [
        certified("infinite", 0, gap=1e-9, error=0.1),
        certified("infinite", 1, error=0.3),
        records.result("x", "t", "older", 0, 90.0),
        certified("older", 1, gap=1e-9, error=0.2),
        certified("whole", 0, gap=0.0, error=0.0),
    ]
    gap, error = (cells(table_of(lines), title) for title in (GAP, ERROR))
    assert [gap[name].text for name in ("infinite", "older", "whole")] == ["—", "—", "0"]
    assert [gap[name].order for name in ("infinite", "older", "whole")] == [None, None, 0.0]
    assert error["infinite"].order == pytest.approx(20.0)
    assert error["older"].order == pytest.approx(20.0)
    assert error["whole"].order == 0.0


def test_tables_without_certificates_do_not_speak_of_them():
    table = table_of([records.result("x", "t", "a", 0, 90.0)])
    assert not {GAP, ERROR} & {column.title for column in table.columns}
    assert table.note == ""
    only_error = table_of([certified("a", 0, error=0.1)])
    assert ERROR in [column.title for column in only_error.columns]
    assert GAP not in [column.title for column in only_error.columns]


@pytest.mark.parametrize("given", [5, None, [], {"gap": "1"}, {"gap": float("inf")}, {"gap": True}])
def test_certificates_without_the_promised_form_are_absent(given):
    found = artifacts_of({"certificate": given})
    assert found.gap is found.error is None


def test_powers_of_ten_can_be_read_back(rng):
    for value in 10.0 ** rng.uniform(-30, 5, 200):
        digits, power = formats.scientific(value).split("·10")
        read = float(digits) * 10.0 ** int(power.translate(RAISED))
        assert read == pytest.approx(value, rel=0.051)
        assert 1 <= float(digits) < 10
    assert [formats.scientific(x) for x in (None, 0.0, 9.96e-4)] == ["—", "0", "1.0·10⁻³"]
    assert formats.scientific(-2e-17) == "\u22122.0·10⁻¹⁷"


def test_the_page_explains_once_per_table_and_lists_every_split(tmp_path):
    pytest.importorskip("jinja2")
    lines = [
        certified("a", 0, gap=2.5e-9, error=0.25),
        certified("a", 1, gap=4.5e-7, error=0.5),
        records.result("x", "no certificates", "b", 0, 80.0),
    ]
    records.write(tmp_path / "x.jsonl", lines)
    text = write_report(tmp_path, tmp_path / "out.html").read_text("utf-8")
    assert text.count("Gap: a certificate") == 1
    orders = [float(x) for x in re.findall(r'data-order="([^"]+)" class="number">[^<]*·10', text)]
    np.testing.assert_array_equal(orders, [4.5e-7, 2.5e-9, 4.5e-7])  # the row, then its splits
    assert 'data-order="37.5" class="number">37.5<' in text
    for split in ("25.0", "50.0"):
        assert f'data-order="{split}" class="number">{split}<' in text
