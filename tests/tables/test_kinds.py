"""What a column is: numbers, categories, dates, and what is left out with a reason."""

import numpy as np
import pytest

from kernelcoding.tables import Wishes, column_types

pd = pytest.importorskip("pandas")

N = 40
RNG = np.random.default_rng(0)


def typed(cells, name="a", named=True, **wishes):
    frame = pd.DataFrame({name: cells, "other": RNG.normal(size=len(cells))})
    return column_types(frame, Wishes(**wishes), named)[0]


@pytest.mark.parametrize(
    ("name", "cells", "kind", "reason"),
    [
        ("age", RNG.normal(size=N), "number", None),
        ("switch", RNG.random(N) > 0.5, "number", None),
        ("population", RNG.permutation(10**6)[:N], "number", None),  # differ, but measure
        ("plan", ["basic", "pro"] * (N // 2), "category", None),
        ("spelled", [str(x) for x in RNG.normal(size=N)], "number", None),
        ("since", ["2020-01-31", "2019-12-01"] * (N // 2), "date", None),
        ("since", ["31.01.2020", "01.12.2019"] * (N // 2), "date", None),
        ("since", ["01/31/2020", "12/01/2019"] * (N // 2), "date", None),
        ("since", pd.date_range("2020-01-01", periods=N), "date", None),
        ("customer_id", RNG.permutation(10**6)[:N], "number", "an identifier, by its name"),
        ("CustomerID", RNG.permutation(10**6)[:N], "number", "an identifier, by its name"),
        ("n", np.arange(N) + 7, "number", "counts the rows"),
        ("one", np.ones(N), "number", "constant"),
        ("one", ["x"] * N, "category", "constant"),
        ("nothing", [np.nan] * N, "text", "empty"),
        ("name", [f"client {i}" for i in range(N)], "text", "all cells differ"),
        ("note", [f"a long note about {2 * i // 3}" for i in range(N)], "text", "5 words per cell"),
    ],
)
def test_kinds_are_found(name, cells, kind, reason):
    found = typed(cells, name)
    assert found.kind == kind
    assert found.used == (reason is None)
    if reason is not None:
        assert reason in found.reason


def test_a_first_column_of_different_whole_numbers_without_a_name_is_an_identifier():
    cells = RNG.permutation(10**6)[:N]
    assert typed(cells, "0").used
    assert "whole numbers that all differ" in typed(cells, "0", named=False).reason


def test_users_have_the_last_word():
    cells = np.arange(N)
    assert typed(cells, "id", keep=("id",)).used
    assert typed(cells, types={"a": "category"}).kind == "category"
    assert not typed(cells, types={"a": "text"}).used
    assert not typed(RNG.normal(size=N), drop=("a",)).used
    assert not typed(RNG.normal(size=N), only=("other",)).used
    words = [f"name {i}" for i in range(N)]
    assert typed(words, keep=("a",)).kind == "category"


@pytest.mark.parametrize(
    ("cells", "wishes", "message"),
    [
        ([*range(N - 1), "abc"], {}, "column 'a' holds numbers, but row 40 holds 'abc'. Write"),
        ([*range(N - 1), np.inf], {}, "column 'a' contains infinity in row 40"),
        (range(N), {"drop": ("b",)}, "--drop names 'b', and the columns are 'a', 'other'"),
        (range(N), {"types": {"a": "colour"}}, "--types a=colour: a column is one of number"),
        (["x"] * N, {"types": {"a": "date"}}, "--types a=date: the cells of column 'a', such as"),
        (["x"] * N, {"drop": ("other",)}, "No column is left to learn from: 'a' .constant."),
    ],
)
def test_refusals_name_column_row_and_remedy(cells, wishes, message):
    with pytest.raises(ValueError, match=message):
        typed(list(cells), **wishes)
