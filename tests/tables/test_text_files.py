"""Text files in all their forms hold the same cells, and what was guessed is said."""

import gzip

import numpy as np
import pytest

from kernelcoding.tables import Request, read_samples

pytest.importorskip("pandas")

ROWS = [["size", "köln", "kind"], ["1.5", "a b", "x"], ["2.5", "ü", "y"], ["", "a b", "x"]]


def written(path, separator=",", encoding="utf-8", rows=ROWS):
    text = "\n".join(separator.join(row) for row in rows)
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize(
    ("name", "separator", "encoding", "note"),
    [
        ("t.csv", ",", "utf-8", None),
        ("t.csv", ",", "utf-8-sig", None),
        ("t.csv", ",", "utf-16", None),
        ("t.csv", ",", "cp1252", "is not UTF-8 and was read as cp1252; if it is something else"),
        ("t.csv", ";", "utf-8", "separated by semicolon; else say --sep"),
        ("t.csv", "|", "utf-8", "separated by |; else say --sep"),
        ("t.tsv", "\t", "utf-8", None),
        ("t.txt", "\t", "utf-8", "separated by tab"),
        ("t.csv.gz", ",", "utf-8", None),
        ("t.tsv.gz", "\t", "utf-8", None),
    ],
)
def test_forms_hold_the_same_cells(name, separator, encoding, note, tmp_path):
    path = written(tmp_path / name, separator, encoding)
    found = read_samples(path, Request("kind"))
    assert found.names == ("size", "köln")
    np.testing.assert_array_equal(found.X["size"], [1.5, 2.5, np.nan])
    assert found.X["köln"].tolist() == ["a b", "ü", "a b"]
    assert found.y.tolist() == ["x", "y", "x"]
    if note is None:
        assert found.notes == ()
    else:
        (said,) = found.notes
        assert note in said


def test_what_is_told_is_not_guessed(tmp_path):
    path = written(tmp_path / "t.csv", ";", "cp1252")
    found = read_samples(path, Request("kind", separator=";", encoding="cp1252"))
    assert found.notes == ()
    assert found.names == ("size", "köln")
    with pytest.raises(ValueError, match="There is no encoding 'klingon': write utf-8"):
        read_samples(path, Request(encoding="klingon"))
    with pytest.raises(ValueError, match="--sep must be one character, or tab, got '::'"):
        read_samples(path, Request(separator="::"))


def test_decimal_commas_are_read_and_said(tmp_path):
    rows = [["a", "b"], ["1,5", "x"], ["-2,25", "y"]]
    found = read_samples(written(tmp_path / "t.csv", ";", rows=rows))
    np.testing.assert_array_equal(found.X["a"], [1.5, -2.25])
    assert "numbers were read with a decimal comma" in found.notes[1]


def test_words_that_look_like_numbers_stay_words_where_told(tmp_path):
    rows = [["zip", "b"], ["01234", "1"], ["1234", "2"]]
    path = written(tmp_path / "t.csv", rows=rows)
    found = read_samples(path, Request(words=frozenset(["zip"])))
    assert found.X["zip"].tolist() == ["01234", "1234"]


def test_a_column_with_one_word_far_below_is_read_as_words_exactly(tmp_path):
    """pandas reads blocks: cells of early blocks must not lose their leading zeros."""
    n = 300_000
    cells = ["007"] * n + ["word"]
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "\n".join(f"{cell},1" for cell in cells))
    found = read_samples(path)
    assert found.X["a"].iloc[0] == "007"
    assert found.X["a"].nunique() == 2


def test_several_files_are_one_table(tmp_path):
    one = written(tmp_path / "1.csv")
    two = written(tmp_path / "2.csv", rows=[["köln", "kind", "size"], ["q", "y", "9"]])
    found = read_samples([one, two], Request("kind"))
    np.testing.assert_array_equal(found.X["size"], [1.5, 2.5, np.nan, 9])
    assert found.y.tolist() == ["x", "y", "x", "y"]
    three = written(tmp_path / "3.csv", rows=[["köln", "kind"], ["q", "y"]])
    with pytest.raises(ValueError, match=r"3\.csv lacks 'size': it has other columns than"):
        read_samples([one, three], Request("kind"))


def test_the_parser_of_pyarrow_reads_alike(tmp_path):
    pytest.importorskip("pyarrow")
    path = written(tmp_path / "t.csv")
    found = read_samples(path, Request("kind", engine="pyarrow"))
    np.testing.assert_array_equal(found.X["size"], [1.5, 2.5, np.nan])
    assert found.y.tolist() == ["x", "y", "x"]


def test_a_file_of_letters_without_names(tmp_path):
    rows = [["p", "x"], ["e", "y"], ["p", "x"]]
    found = read_samples(written(tmp_path / "t.csv", rows=rows), Request("0"))
    assert found.y.tolist() == ["p", "e", "p"]
    assert "was taken for a sample; if it holds names, say --header" in found.notes[0]
    rows[0] = ["kind", "x"]
    found = read_samples(written(tmp_path / "t.csv", rows=rows), Request("0"))
    assert found.y.tolist() == ["e", "p"]
