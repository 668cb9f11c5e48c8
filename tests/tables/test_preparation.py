"""From columns to numbers, against pandas and scikit-learn by hand; and through a model file."""

import numpy as np
import pytest

from helpers.tables import FRAME, N, table_model
from kernelcoding import persistence

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def model():
    return table_model()


def standardised(values):
    return (values - values.mean()) / values.std()


def test_numbers_are_those_made_by_hand(model):
    found = model[:-1].transform(FRAME)
    age = FRAME["age"]
    filled = age.fillna(age.median()).to_numpy()
    days = (pd.to_datetime(FRAME["since"]) - pd.Timestamp("1970-01-01")).dt.days.to_numpy(float)
    expected = [standardised(filled), standardised(days), standardised(age.isna().to_numpy(float))]
    np.testing.assert_allclose(found[:, :3], np.column_stack(expected), atol=1e-12)
    words = [(FRAME["plan"] == plan) for plan in ("basic", "free", "pro")]
    words += [(FRAME["zip"] == code) for code in (1, 2, 3, 4)]
    np.testing.assert_array_equal(found[:, 3:], np.column_stack(words).astype(float))


def test_a_file_keeps_the_preparation(model, tmp_path):
    persistence.save(model, tmp_path / "m.kc", about={"rows": N})
    again = persistence.load(tmp_path / "m.kc")
    np.testing.assert_array_equal(again[:-1].transform(FRAME), model[:-1].transform(FRAME))
    assert persistence.about(tmp_path / "m.kc")["rows"] == N
    shuffled = FRAME[["zip", "since", "plan", "age"]].assign(
        extra=1
    )  # reordered, one more, one less
    np.testing.assert_array_equal(again.predict(shuffled), model.predict(FRAME))


def test_other_cells_than_in_training(model):
    new = FRAME.iloc[:3].copy()
    new["plan"] = ["new", None, "pro"]
    new["zip"] = ["1", "2", "3"]  # the same words, whatever they were stored as
    new["since"] = [None, "2020-02-01", "2020-02-02"]
    found = model[:-1].transform(new)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[:2, 3:6], 0.0)
    np.testing.assert_array_equal(found[:, 6:], np.eye(4)[:3])


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("age", "old", r"features must be numbers \(row 2, column 'age': got 'old'\)"),
        ("age", np.inf, "row 2, column 'age': expected a finite number, got 'inf'"),
        ("since", "yesterday", "row 2, column 'since': expected a date as year-month-day, got"),
    ],
)
def test_refusals_name_row_and_column(model, column, cell, message):
    new = FRAME.iloc[:3].astype({column: object})
    new.loc[1, column] = cell
    with pytest.raises(ValueError, match=message):
        model.predict(new)


def test_missing_columns_are_named(model):
    with pytest.raises(ValueError, match="The table lacks 'age', 'zip'"):
        model.predict(FRAME.drop(columns=["age", "zip"]))
    with pytest.raises(ValueError, match="Expected 5 columns, got 2"):
        model.predict(np.zeros((2, 2)))
