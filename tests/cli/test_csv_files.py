"""CSV files: lines of names that are numbers, cells of any length, and what reading costs."""

import csv
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import kernelcoding as kc
from helpers.commands import WORDS, X, done, failed, invoke, noted, write_csv
from helpers.processes import run_python

data_files = pytest.importorskip("kernelcoding.tables.reading")
columns = pytest.importorskip("kernelcoding.tables.columns")
kinds_of_columns = pytest.importorskip("kernelcoding.tables.kinds")
labels = pytest.importorskip("kernelcoding.tables.labels")
output_files = pytest.importorskip("kernelcoding.cli.output_files")
YEARS = ["2019", "2020", "2021", "2022"]


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read(path, text, *arguments, **options):
    path.write_text(text, encoding="utf-8")
    return data_files.read_samples(path, columns.Request(*arguments, **options))


def test_names_that_are_numbers_are_names_where_that_is_said(tmp_path):
    text = "2019,2020\n1,2\n3,4\n"
    named = read(tmp_path / "t.csv", text, header=True)
    np.testing.assert_array_equal(named.X, [[1, 2], [3, 4]])
    assert named.names == ("2019", "2020")
    assert named.notes == ()
    bare = read(tmp_path / "t.csv", text, header=False)
    np.testing.assert_array_equal(bare.X, [[2019, 2020], [1, 2], [3, 4]])
    assert bare.names is None
    assert bare.notes == ()
    # A target that can be no position must be a name.
    labelled = read(tmp_path / "t.csv", text, "2020")
    assert labelled.y.tolist() == [2, 4]
    assert labelled.notes == ()


@pytest.mark.parametrize(
    ("text", "target", "n_samples", "option"),
    [
        ("2019,2020\n1,2\n3,4\n", None, 3, "--header"),
        ("2019,2020,kind\n1,2,cat\n3,4,dog\n", "-1", 3, "--header"),
        ("0,1,kind\n1,2,7\n3,4,8\n", "2", 2, "--no-header"),
        ("1,2\n1,2\n", None, 2, "--header"),
        ("x,y\n1,2\n", None, 1, None),
        ("x,2020\n1,2\n", "x", 1, None),
        ("5,5\n1,2\n", None, 2, None),  # the same name twice
    ],
)
def test_a_guess_is_said(text, target, n_samples, option, tmp_path):
    found = read(tmp_path / "t.csv", text, target)
    assert len(found.X) == n_samples
    if option is None:
        assert found.notes == ()
    else:
        (note,) = found.notes
        assert note.startswith(f"{tmp_path / 't.csv'}: The first line ('")
        assert note.endswith(f", say {option}.")


def test_commands_take_the_word_of_their_user(in_folder):
    write_csv(in_folder / "years.csv", X.tolist(), YEARS)
    (note,) = noted("fit", "years.csv")
    assert "('2019', '2020', '2021', '2022') was taken for a sample; if it holds names" in note
    assert kc.load("model.kc")[-1].dictionary_.n_atoms == 31
    done("fit", "years.csv", "--header", "--force")
    assert kc.load("model.kc")[-1].dictionary_.n_atoms == 30
    assert kc.load("model.kc").feature_names_in_.tolist() == YEARS
    done("fit", "years.csv", "--no-header", "--force")
    assert kc.load("model.kc")[-1].dictionary_.n_atoms == 31
    np.save("samples.npy", X)
    said = failed("fit", "samples.npy", "--header", "--out", "other.kc")
    assert "samples.npy: --header and --no-header are for CSV files. Leave them out." in said


def test_a_wrong_guess_is_said_beside_the_message(in_folder):
    write_csv(in_folder / "t.csv", [["year", 2019], ["1", "abc"], *([i, i] for i in range(9))])
    result = invoke("fit", "t.csv")
    assert result.exit_code == 1
    assert "was taken for a sample; if it holds names, say --header." in result.stderr
    assert "column '0' holds numbers, but row 1 holds 'year'" in result.stderr


def test_refusals_say_where(in_folder):
    path = in_folder / "t.csv"
    for text, message in (
        (
            "a,b\n" + "1,2\n" * 9 + "\n3,x\n",
            "t.csv: column 'b' holds numbers, but row 10 holds 'x'. Write a number or leave the "
            "cell empty; or say --types b=category, or --drop b.",
        ),
        ("a,b\n1,2\n3\n", "different numbers of cells, [1, 2]: the first has 2, line 3 has 1."),
        (
            "a,b\n1,2\n-inf,3\n",
            "t.csv: column 'a' contains infinity in row 2. Write a number, leave the cell empty, "
            "or say --drop a.",
        ),
    ):
        path.write_text(text, encoding="utf-8")
        assert message in failed("fit", "t.csv"), text
    path.write_text("a,b\n1,x\n2,\n", encoding="utf-8")
    said = failed("fit", "t.csv", "--target", "b")
    assert "1 of 2 samples have no label in column 'b', the first in row 2. Fill them in" in said
    path.write_text("b\n1\n", encoding="utf-8")
    assert "no column of features beside the labels" in failed("fit", "t.csv", "--target", "b")


def test_models_that_fill_in_missing_numbers_are_given_them(in_folder):
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    kc.save(make_pipeline(SimpleImputer(), kc.ResidualClassifier()).fit(X, WORDS), "model.kc")
    write_csv(in_folder / "holes.csv", [["nan", *row[1:]] for row in X.tolist()])
    assert done("predict", "model.kc", "holes.csv", "--no-header").startswith("30 labels")


def test_one_long_cell_costs_its_own_length(tmp_path):
    """In an array of texts every cell would take 80,000 bytes: 0.8 GB for these labels."""
    n, long = 10_000, "x" * 20_000
    lines = [f"{i},{i % 7},{'ab'[i % 2]}" for i in range(n)]
    files = {"label": f"1,2,{long}", "feature": f"{long},2,a"}
    for name, line in files.items():
        changed = [*lines[: n // 2], line, *lines[n // 2 + 1 :]]
        (tmp_path / name).with_suffix(".csv").write_text("\n".join(["p,q,kind", *changed]))
    request = columns.Request("kind")
    tracemalloc.start()
    try:
        y = data_files.read_samples(tmp_path / "label.csv", request).y
        found = data_files.read_samples(tmp_path / "feature.csv", request)
        with pytest.raises(ValueError, match="row 5001") as refused:
            kinds_of_columns.column_types(found.X, kinds_of_columns.Wishes())
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
    assert len(y) == n
    assert set(y.tolist()) == {"a", "b", long}
    assert len(str(refused.value)) < 500


def test_a_model_has_long_labels_and_gives_them_back(in_folder, monkeypatch):
    monkeypatch.setattr(labels, "LARGE_TEXT", 1000)
    monkeypatch.setattr(output_files, "LARGEST_TEXT", 1000)
    kinds = np.where(WORDS == "setosa", "long " * 500, WORDS).tolist()
    rows = [[*sample, kind] for sample, kind in zip(X.tolist(), kinds, strict=True)]
    write_csv(in_folder / "t.csv", rows, ["a", "b", "c", "d", "kind"])
    request = columns.Request("kind")
    assert data_files.read_samples(in_folder / "t.csv", request).y.dtype == object
    library = kc.ResidualClassifier().fit(X, kinds)
    done("fit", "t.csv", "--target", "kind")
    assert "Accuracy" in done("predict", "model.kc", "t.csv", "--target", "kind")
    with open("labels.csv", newline="", encoding="utf-8") as file:
        assert [row[1] for row in csv.reader(file)][1:] == library.predict(X).tolist()
    said = failed("predict", "model.kc", "t.csv", "--target", "kind", "--out", "labels.npy")
    assert "the room of the longest, 2500 characters. Write these labels as CSV" in said
    assert not list(in_folder.glob("labels.npy*"))
    done("fit", "t.csv", "--target", "kind", "--atoms", "9", "--force")
    assert kc.load("model.kc").classes_.tolist() == sorted(set(kinds))


COST = """
    from pathlib import Path
    from kernelcoding.tables.columns import Request
    from kernelcoding.tables.reading import read_samples

    def most():
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

    small, large = Path({small!r}), Path({large!r})
    read_samples(small, Request("kind"))
    before = most()
    found = read_samples(large, Request("kind"))
    print((most() - before) / found.X.to_numpy().nbytes, found.X.shape)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for its figures")
def test_reading_costs_at_most_three_times_the_numbers(tmp_path):
    """20 MB of text, 2.5 million numbers, measured from outside as the system sees it."""
    rng, n, d = np.random.default_rng(0), 50_000, 50
    header = ",".join([*(f"x{i}" for i in range(d)), "kind"])
    block = "".join(
        ",".join([*(f"{value:.5f}" for value in row), f"kind {i % 3}"]) + "\n"
        for i, row in enumerate(rng.uniform(size=(1000, d)))
    )
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_text(f"{header}\n{block}", encoding="utf-8")
    large.write_text(f"{header}\n{block * (n // 1000)}", encoding="utf-8")
    assert large.stat().st_size > 19e6
    ratio, shape = run_python(COST.format(small=str(small), large=str(large))).split(maxsplit=1)
    assert shape.strip() == f"({n}, {d})"
    assert 0.5 < float(ratio) < 3
