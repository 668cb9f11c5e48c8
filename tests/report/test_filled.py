"""Tables of a text are what the records say, and the rest of the text stays."""

import re

import numpy as np
import pytest

from helpers import records
from kernelcoding.records import read_runs
from kernelcoding.report import fill_tables
from kernelcoding.report.filled import END, filled


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three methods, one the control of another, at two numbers of atoms and at none."""
    rng = np.random.default_rng(3)
    lines = [records.header("x")]
    for table in ("first", "second, whole"):
        for name, control_of in (("a", None), ("a, control", "a"), ("b|c", None)):
            for size in (50, 100) if table == "first" else (None,):
                lines += [
                    records.result(
                        "x", table, name, split, float(rng.uniform(80, 90)), size=size,
                        control_of=control_of, paper=85.5 if name == "a" else None,
                        seconds=2.0 + split, nonzeros=1234.0, peak_memory_mb=300.0 + split,
                    )
                    for split in range(4)
                ]  # fmt: skip
    lines.append(records.result("x", "first", "SVC", 0, 91.25, nonzeros=None))
    folder = tmp_path_factory.mktemp("runs")
    records.write(folder / "x.jsonl", lines)
    return folder


def order(*lines, old=""):
    return "\n".join(["<!-- records: x", *lines, "-->", old + END])


def rows_of(text):
    """Cells of the table, by an independent reading of Markdown."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert set(cells.pop(1)) == {"---"}
    assert len({len(row) for row in cells}) == 1
    return cells


def values(runs, table, method, size):
    return np.array(
        [
            line["value"]
            for line in records.read_lines(runs / "x.jsonl")[1:]
            if (line["table"], line["method"], line["size"]) == (table, method, size)
        ]
    )


def test_one_table_has_all_there_is(runs):
    head, *rows = rows_of(filled(order("table: second, whole"), read_runs(runs)))
    assert head == ["", "ours", "paper", "gain", "atoms per code", "seconds"]
    ours, control = (values(runs, "second, whole", m, None) for m in ("a", "a, control"))
    difference = ours - control
    assert rows[0] == [
        "a",
        f"{ours.mean():.1f} ± {ours.std(ddof=1):.1f} (4)",
        "85.5",
        f"{difference.mean():+.2f} ± {difference.std(ddof=1) / 2:.2f}".replace("-", "\u2212"),
        "1\u202f234",
        "3.5",
    ]
    assert [row[0] for row in rows] == ["a", "a, control", "b\\|c"]
    assert rows[1][3] == rows[2][2] == ""


def test_numbers_of_atoms_are_columns(runs):
    head, *rows = rows_of(filled(order("table: first"), read_runs(runs)))
    assert head == ["", "50", "100", "every sample"]
    assert rows[-1] == ["SVC", "", "", "91.2"]
    for row in rows[:-1]:
        for cell, size in zip(row[1:3], (50, 100), strict=True):
            found = values(runs, "first", row[0].replace("\\|", "|"), size)
            assert cell == f"{found.mean():.1f} ± {found.std(ddof=1):.1f} (4)"


def test_options(runs):
    asked = order(
        "table: first", "table: second, whole = whole = all", "show: error, gain",
        "methods: SVC = machine | a", "sizes: 100", "corner: errors", "turned: yes",
    )  # fmt: skip
    columns = rows_of(filled(asked, read_runs(runs)))
    first = 100 - values(runs, "first", "a", 100)
    assert [row[0] for row in columns] == ["errors", "ours", "gain", "whole = all", "gain"]
    assert [row[1] for row in columns] == ["machine", "8.75", "", "", ""]
    assert columns[1][2] == f"{first.mean():.2f} ± {first.std(ddof=1):.2f} (4)"


def test_tables_side_by_side_keep_their_headings(runs):
    asked = order("table: first = some", "table: second, whole = all", "methods: a")
    head, _ = rows_of(filled(asked, read_runs(runs)))
    assert head == ["", "some, 50", "some, 100", "all"]  # no column without a number


def test_memory_is_the_largest_of_the_splits(runs):
    asked = order("table: second, whole", "show: value, memory")
    head, row, *_ = rows_of(filled(asked, read_runs(runs)))
    assert (head[2], row[2]) == ("MB", "303")


def test_the_rest_of_the_text_stays_and_twice_is_once(runs, tmp_path):
    page = tmp_path / "page.md"
    before = "# Häder\n\n" + order("table: first", old="| stale |\n") + "\n\n| by | hand |\n"
    page.write_text(before, encoding="utf-8")
    assert fill_tables(page, runs)
    once = page.read_text(encoding="utf-8")
    assert once.startswith("# Häder\n\n<!-- records: x\ntable: first\n-->\n| ")
    assert once.endswith(f"{END}\n\n| by | hand |\n")
    assert "stale" not in once
    assert not fill_tables(page, runs)
    assert page.read_text(encoding="utf-8") == once


def test_ends_of_lines_outside_tables_stay(runs, tmp_path):
    page = tmp_path / "page.md"
    page.write_bytes(
        f"# A\r\n\r\n{order('table: first')}\r\nb\r\n".replace("-->\n", "-->\r\n").encode()
    )
    assert fill_tables(page, runs)
    found = page.read_bytes()
    assert found.startswith(b"# A\r\n\r\n<!-- records: x\n")
    assert found.endswith(f"{END}\r\nb\r\n".encode())
    assert not fill_tables(page, runs)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("no table", "asks for no table"),
        (order("table: first").removesuffix(END), "1 begin, 0 end"),
        (order("table: third"), "x has no table 'third'; there are first, second, whole"),
        (order("corner: x"), "names none of its tables: add table: NAME"),
        (order("tables: first"), "has no option 'tables'; there are corner, methods"),
        (order("table: first", "show: gains"), "cannot show 'gains'; there are error, gain"),
        (order("table: first", "sizes: many"), "as in 'sizes: 100, 200'; got 'many'"),
        (order("table: first", "methods: z"), "x has no method 'z'; there are SVC, a"),
        (order("table: first").replace(": x", ": y"), "have no experiment 'y'; there are x"),
    ],
)
def test_what_is_not_there_is_named(runs, text, problem):
    with pytest.raises(ValueError, match=re.escape(problem)):
        filled(text, read_runs(runs))
