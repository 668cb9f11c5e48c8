"""Users' files of samples: every form is read alike, and the unreadable is explained."""

import re
import sys

import numpy as np
import pytest

import kernelcoding as kc
from helpers.commands import WORDS, X, Y, done, failed, invoke, write_csv, write_samples

columns = pytest.importorskip("kernelcoding.tables.columns")
data_files = pytest.importorskip("kernelcoding.tables.reading")


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """Commands run in an empty folder: defaults of --out are written there."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def files(in_folder):
    return write_samples(in_folder)


@pytest.mark.parametrize(
    ("name", "target", "labels"),
    [
        ("named.csv", "kind", WORDS),
        ("named.csv", "4", WORDS),
        ("named.csv", "-1", WORDS),
        ("bare.csv", "4", WORDS),
        ("bare.csv", "-1", WORDS),
        ("front.csv", "0", Y),
        ("front.csv", "-5", Y),
        ("samples.csv", None, None),
        ("samples.npy", None, None),
        ("table.npy", "4", Y),
        ("table.npy", "-1", Y),
        ("data.npz", None, WORDS),
        ("data.npz", "other", Y),
    ],
)
def test_every_form_holds_the_same_samples(name, target, labels, files):
    read = data_files.read_samples(files / name, columns.Request(target))
    np.testing.assert_array_equal(np.asarray(read.X), X)
    assert np.asarray(read.X).dtype == np.float64
    if labels is None:
        assert read.y is None
    else:
        np.testing.assert_array_equal(read.y, labels)
        assert read.y.dtype.kind == labels.dtype.kind


def read_text(path, text, target=None):
    path.write_text(text, encoding="utf-8")
    return data_files.read_samples(path, columns.Request(target))


def test_lines_of_names_are_told_from_samples(tmp_path):
    path = tmp_path / "t.csv"
    for text, target, n_samples in (
        ("1,2,cat\n3,4,dog\n", "2", 2),  # no names: the first line is a sample
        ("x,y,kind\n1,2,cat\n3,4,dog\n", "2", 2),
        ("0,1,kind\n1,2,cat\n3,4,dog\n", "kind", 2),  # columns named by their numbers
        ("0,1,kind\n1,2,7\n3,4,8\n", "2", 2),
        ("\ufeffx,y,z\r\n1,2,3\r\n\r\n3,4,5\r\n", "z", 2),  # as some spreadsheets write
        ("1,2,3\n", "2", 1),
    ):
        read = read_text(path, text, target)
        assert read.X.shape == (n_samples, 2), text
        assert len(read.y) == n_samples


def test_a_first_sample_with_a_hole_is_not_taken_for_names(tmp_path):
    for hole in ("", "NA", "?"):
        found = read_text(tmp_path / "t.csv", f"1.5,{hole},3\n4,5,6\n")
        np.testing.assert_array_equal(np.asarray(found.X), [[1.5, np.nan, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["1", "2", "1"], [1, 2, 1]),
        (["1.0", "2.0", "-3"], [1, 2, -3]),
        # not by way of floats, in which these two are the same
        (["9007199254740993", "9007199254740992"], [9007199254740993, 9007199254740992]),
        (["0.5", "1"], [0.5, 1.0]),
        (["inf", "1"], [np.inf, 1.0]),
        (["1e300", "1"], [1e300, 1.0]),
        (["1", "x"], ["1", "x"]),
        (["9" * 30, "1"], [1e30, 1.0]),
        (["9" * 30, "9" * 29 + "8"], ["9" * 30, "9" * 29 + "8"]),  # one and the same float
        (["9" * 5000, "9" * 5001], ["9" * 5000, "9" * 5001]),
    ],
)
def test_labels_are_integers_where_they_can_be(cells, labels, tmp_path):
    path = write_csv(tmp_path / "t.csv", [[i, cell] for i, cell in enumerate(cells)])
    found = data_files.read_samples(path, columns.Request("1")).y
    assert found.tolist() == labels
    assert found.dtype.kind == np.array(labels).dtype.kind


BROKEN = {
    "empty.csv": (b"", "holds no samples"),
    "blank.csv": (b"\n\n", "holds no samples"),
    "names.csv": (b"a,b,c\n", "holds no samples"),
    "ragged.csv": (b"1,2,3\n1,2\n", r"different numbers of cells, \[2, 3\]"),
    "header.csv": (b"a,b,c\n1,2\n3,4\n", r"different numbers of cells, \[2, 3\]"),
    "zeros.csv": (b"a,b\n1,\0\n", "is no text: it holds bytes of zero"),
    "cut.csv.gz": (b"\x1f\x8b\x08 and no more", "no .csv file, or damaged"),
    "quote.csv": (b'1,"' + b"2" * 200_000 + b'"\n', "no .csv file, or damaged"),
    "empty.npy": (b"", "no .npy file, or damaged"),
    "text.npy": (b"1,2,3\n", "must hold arrays of numbers"),
    "header.npy": (b"\x93NUMPY\x01\x00\x06\x00{')})\n" + bytes(8), "no .npy file, or damaged"),
    "empty.npz": (b"", "no .npz file, or damaged"),
    "cut.npz": (b"PK\x03\x04 and no more", "no .npz file, or damaged"),
    "data.xlsx": (b"PK", r"expected a file ending in \.csv, \.tsv, .*\.parquet, or \.csv\.gz"),
    "data": (b"1,2", "expected a file ending in"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_files_that_cannot_be_read_are_explained(name, in_folder):
    content, message = BROKEN[name]
    (in_folder / name).write_bytes(content)
    said = failed("fit", name)
    assert re.search(message, said), said
    assert name in said
    assert not (in_folder / "model.kc").exists()


def test_pickled_arrays_are_refused_without_bad_advice(in_folder):
    np.save("objects.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    np.savez("objects.npz", X=np.array([{}, []], dtype=object))
    for name in ("objects.npy", "objects.npz"):
        said = failed("fit", name)
        assert "must hold arrays of numbers or words" in said
        assert "pickle" not in said


def test_missing_numbers_and_labels_are_explained(in_folder):
    np.savez("data.npz", X=np.array([[1.0, np.nan], [2.0, 3.0]]))
    assert "contains NaN" in failed("fit", "data.npz")
    write_csv(in_folder / "hole.csv", [[1, 2, "x"], [2, 3, ""], [3, 4, " "]])
    assert "2 of 3 samples have no label" in failed("fit", "hole.csv", "--target", "2")
    np.savez("short.npz", X=X, y=Y[:3])
    said = failed("fit", "short.npz")
    assert "short.npz: X holds 30 samples and y labels of 3. Give every sample one label." in said
    np.savez("nothing.npz", A=X)
    assert "must hold an array X (and y for labels), got ['A']" in failed("fit", "nothing.npz")


def test_words_that_are_no_text_are_refused(in_folder):
    words = np.full(3, 2**31, np.uint32).view("U1")
    np.save("words.npy", words)
    np.savez("words.npz", X=np.eye(3), y=words)
    for name in ("words.npy", "words.npz"):
        assert f"{name} must hold arrays of numbers or words" in failed("fit", name)


def test_parquet_files_hold_the_same_samples(in_folder):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    for labels in (WORDS, Y, Y.astype(float), Y.astype(np.int8)):
        frame["kind"] = labels
        frame.to_parquet("data.parquet")
        for target in ("kind", "-1", "4"):
            request = columns.Request(target)
            read = data_files.read_samples(in_folder / "data.parquet", request)
            np.testing.assert_array_equal(np.asarray(read.X), X)
            np.testing.assert_array_equal(read.y, WORDS if labels is WORDS else Y)
            assert read.y.dtype.kind == ("U" if labels is WORDS else "i")
    frame["kind"] = WORDS
    frame["switch"] = X[:, 0] > 5
    frame.to_parquet("data.parquet")
    read = data_files.read_samples(in_folder / "data.parquet", columns.Request("kind"))
    expected = np.column_stack([X, X[:, 0] > 5])
    np.testing.assert_array_equal(np.asarray(read.X, dtype=float), expected)
    assert "no column 'sort'" in failed("fit", "data.parquet", "--target", "sort")
    done("fit", "data.parquet", "--target", "kind")
    assert "Accuracy: 100" in done("predict", "model.kc", "data.parquet", "--target", "kind")
    frame.loc[3, "kind"] = None
    frame.to_parquet("data.parquet")
    said = failed("fit", "data.parquet", "--target", "kind", "--out", "other.kc")
    assert "1 of 30 samples have no label in column 'kind', the first in row 4" in said
    frame["kind"], frame["day"] = Y, pd.Timestamp("2020-01-01")
    frame.to_parquet("data.parquet")
    said = done("fit", "data.parquet", "--target", "kind", "--out", "dated.kc")
    assert "dates, as days since 1970" in said
    kc.save(kc.ResidualClassifier().fit(np.column_stack([expected, Y]), Y), "numbers.kc")
    result = invoke("predict", "numbers.kc", "data.parquet", "--target", "kind", "--force")
    assert "column 'day' holds dates, and the model takes numbers there" in result.stderr
    (in_folder / "broken.parquet").write_bytes(b"PAR1 and no more")
    assert failed("fit", "broken.parquet", "--out", "other.kc")


def test_parquet_without_its_packages_is_explained(in_folder, monkeypatch):
    (in_folder / "data.parquet").touch()
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "Parquet files need pandas and pyarrow" in failed("fit", "data.parquet")


def test_text_in_another_encoding_than_was_said_is_refused(in_folder):
    lines = [f"{i}.5,{i % 3}.25,{'ab'[i % 2]}" for i in range(20)]
    (in_folder / "t.csv").write_text("\n".join(["x,y,kind", *lines]), encoding="utf-16")
    said = failed("fit", "t.csv", "--target", "2", "--encoding", "latin-1")
    assert "t.csv is no text in iso8859-1: it holds characters of zero. Say another --enc" in said
    assert invoke("fit", "t.csv", "--target", "kind").exit_code == 0
