"""The page shows what methods are worth over their controls."""

from helpers import records
from kernelcoding.records import tables_of
from kernelcoding.records.parsing import result_of
from kernelcoding.report.tables import results_table


def table_of(values):
    """A table of the page; rows by name, controls by their names."""
    lines = [
        records.result("x", "t", name, split, value)
        for name, found in values.items()
        for split, value in enumerate(found)
    ]
    groups = tables_of([result_of(line, "") for line in lines])["t"]
    return results_table("t", groups, "Accuracy", [f"r{i}" for i in range(len(groups))])


def gains(table):
    (position,) = [i for i, column in enumerate(table.columns) if column.title == "Gain"]
    return {row[0].text: row[position] for row in table.rows}


def test_paired_gains_with_their_errors():
    table = table_of({"a": [90.0, 80.0], "a, control": [89.0, 77.0], "b": [1.0, 2.0]})
    cells = gains(table)
    assert (cells["a"].text, cells["a"].note, cells["a"].order) == ("+2.00", "\u00b1 1.00", 2.0)
    assert cells["b"].text == cells["a, control"].text == "\u2014"
    assert cells["b"].order is None
    loss = gains(table_of({"a": [88.0], "a, control": [89.0]}))["a"]
    assert (loss.text, loss.note.strip()) == ("\u22121.00", "")


def test_no_column_without_controls():
    assert "Gain" not in [column.title for column in table_of({"a": [1.0], "b": [2.0]}).columns]
