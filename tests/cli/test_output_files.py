"""What commands write: nothing is lost by mistake, and no spreadsheet runs a label."""

import csv
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernelcoding as kc
from helpers import records
from helpers.commands import WORDS, X, done, failed, noted, write_csv, write_samples
from helpers.processes import run_python
from kernelcoding import persistence

data_files = pytest.importorskip("kernelcoding.tables.reading")
columns = pytest.importorskip("kernelcoding.tables.columns")
labels = pytest.importorskip("kernelcoding.tables.labels")
output_files = pytest.importorskip("kernelcoding.cli.output_files")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with samples and a model, in which commands run."""
    monkeypatch.chdir(tmp_path)
    write_samples(tmp_path)
    done("fit", "data.npz")
    return tmp_path


@pytest.fixture
def no_work(monkeypatch):
    """Refusals must come before anything is read or computed."""
    monkeypatch.setattr(persistence, "load", lambda path: pytest.fail("work was begun"))
    monkeypatch.setattr(kc.KernelSparseCoder, "fit", lambda *_: pytest.fail("work was begun"))


def test_inputs_are_never_overwritten(files, no_work):
    os.symlink("samples.npy", "linked.npy")
    os.link("samples.npy", "hard.npy")
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    for command, out, given_file in (
        (["fit", "samples.npy"], "samples.npy", "samples.npy"),
        (["fit", "samples.npy"], "linked.npy", "samples.npy"),
        (["fit", "samples.npy"], files / "hard.npy", "samples.npy"),
        (["encode", "model.kc", "samples.npy"], "./samples.npy", "samples.npy"),
        (["predict", "model.kc", "named.csv"], "named.csv", "named.csv"),
        (["predict", "data.npz", "named.csv"], "data.npz", "data.npz"),
    ):
        for force in ([], ["--force"]):
            said = failed(*command, "--out", out, *force)
            assert f"is the input {given_file}, which would be lost. Choose another" in said
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


@pytest.mark.parametrize(
    ("command", "out"),
    [
        (["fit", "data.npz"], "model.kc"),
        (["encode", "model.kc", "samples.npy"], "codes.npz"),
        (["predict", "model.kc", "samples.npy"], "labels.csv"),
    ],
)
def test_other_files_are_overwritten_only_when_told(command, out, files):
    """What is in the way is a valid model, so that every command could go on."""
    before = (files / "model.kc").read_bytes()
    (files / out).write_bytes(before)
    said = failed(*command)
    assert f"{out} exists already. Choose another --out, or overwrite it with --force." in said
    done(*command, "--out", f"fresh-{out}")
    assert (files / out).read_bytes() == before
    done(*command, "--seed", "1", "--force") if command[0] == "fit" else done(*command, "--force")
    assert (files / out).read_bytes() != before


def test_folders_are_no_files(files, no_work):
    (files / "folder.npz").mkdir()
    for command in (["encode", "model.kc", "samples.npy"], ["predict", "model.kc", "samples.npy"]):
        said = failed(*command, "--out", "folder.npz", "--force")
        assert "--out must be a file, folder.npz is a folder" in said


def test_a_failed_writing_leaves_what_was_there(files, monkeypatch):
    done("encode", "model.kc", "samples.npy")
    before = (files / "codes.npz").read_bytes()

    def fail(file, *_):
        file.write(b"half of")
        raise OSError("No space left on device")

    monkeypatch.setattr(output_files.sparse, "save_npz", fail)
    said = failed("encode", "model.kc", "samples.npy", "--force")
    assert "No space left" in said
    assert (files / "codes.npz").read_bytes() == before
    assert not list(files.glob("*.part"))


def test_reports_do_not_replace_records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    record = tmp_path / "runs" / "x.jsonl"
    record.write_text("{}\n")
    for runs in ("runs", "runs/x.jsonl"):
        assert "is the input" in failed("report", runs, "--out", "runs/x.jsonl")
    assert "is the input" in failed("demo", "--runs", "runs", "--out", "runs/x.jsonl")
    assert record.read_text() == "{}\n"


def test_slim_records_are_written_beside_the_report_not_over_the_records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = records.write_runs(tmp_path / "runs", ["virus", "digits"])
    before = (runs / "virus.jsonl").read_bytes()
    assert "2 files in kept" in done("report", runs, "--slim", "kept")
    assert len((tmp_path / "kept" / "virus.jsonl").read_text().splitlines()) == 31
    assert "holds the records themselves" in failed("report", runs, "--slim", runs)
    assert (runs / "virus.jsonl").read_bytes() == before


def test_tables_of_a_text_are_filled_and_the_text_is_not_replaced_by_the_page(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    runs = records.write_runs(tmp_path / "runs", ["virus"])
    page = tmp_path / "page.md"
    before = "# By hand\n<!-- records: virus\ntable: Ten folds\n-->\n<!-- end of records -->\n"
    page.write_text(before)
    assert "is the input" in failed("report", runs, "--fill", page, "--out", page)
    assert page.read_text() == before
    assert "Tables: page.md\n" in done("report", runs, "--fill", "page.md")
    assert "| kSC | " in page.read_text()
    assert page.read_text().startswith("# By hand\n")
    assert "Tables: page.md (nothing changed)" in done("report", runs, "--fill", "page.md")
    assert "other.md does not exist" in failed("report", runs, "--fill", "other.md")


@pytest.mark.parametrize("command", [["fit", "nothing.csv"], ["demo"], ["reproduce", "digits"]])
def test_no_jobs_at_all_are_refused_at_once(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = failed(*command, "--n-jobs", "0")
    assert "--n-jobs must be a number of at least 1, or -1 for all cores, got 0." in said
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- labels and spreadsheets

RUN = ("=", "+", "-", "@", "\t", "\r", "\n")  # what makes a spreadsheet take a cell for a formula
awkward = st.text(alphabet="'=+-@\t\r\n1.e ,\"xé", max_size=6)


@given(awkward)
def test_safe_spellings_are_read_back(label):
    spelled = labels.safe_spelling(label)
    assert labels.plain_spelling(spelled) == label
    assert not spelled.startswith(RUN) or is_plain_number(spelled)


@given(awkward, awkward)
def test_safe_spellings_differ_where_labels_do(one, other):
    assert (labels.safe_spelling(one) == labels.safe_spelling(other)) == (one == other)


def is_plain_number(cell):
    try:
        return str(float(cell)) != "" and "_" not in cell and cell.strip() == cell
    except ValueError:
        return False


FORMULAS = np.array(["=1+1", "'=1+1", "@sum", "-", "+ 5", "'tis", "-1"])


@pytest.fixture
def formulas(tmp_path, monkeypatch):
    """Samples whose labels are formulas, each kind far from the others, as CSV and NPZ."""
    monkeypatch.chdir(tmp_path)
    kinds = np.repeat(np.arange(len(FORMULAS)), 3)
    samples = np.random.default_rng(0).normal(size=(len(kinds), 2)) * 0.1 + 10 * kinds[:, None]
    np.savez("data.npz", X=samples, y=FORMULAS[kinds])
    done("fit", "data.npz", "--coder", "words")
    return samples, FORMULAS[kinds]


def cells_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [row[1] for row in csv.reader(file)][1:]


def test_labels_that_a_spreadsheet_would_run_are_spelled_or_announced(formulas, tmp_path):
    samples, kinds = formulas
    (note,) = noted("predict", "model.kc", "data.npz")
    assert "labels.csv: a spreadsheet would run labels such as" in note
    assert "--safe-csv writes them with a ' in front." in note
    assert cells_of("labels.csv") == kinds.tolist()
    assert noted("predict", "model.kc", "data.npz", "--out", "labels.npy") == []
    done("predict", "model.kc", "data.npz", "--safe-csv", "--force")
    cells = cells_of("labels.csv")
    assert cells[::3] == ["'=1+1", "''=1+1", "'@sum", "'-", "'+ 5", "'tis", "-1"]
    # Read back, they are the labels of the model.
    rows = [[*sample, cell] for sample, cell in zip(samples.tolist(), cells, strict=True)]
    write_csv(tmp_path / "safe.csv", rows, ["a", "b", "kind"])
    found = data_files.read_samples(
        tmp_path / "safe.csv", columns.Request("kind", safe_labels=True)
    )
    assert found.y.tolist() == kinds.tolist()
    done("fit", "safe.csv", "--target", "kind", "--coder", "words", "--safe-csv", "--force")
    assert kc.load("model.kc").classes_.tolist() == sorted(FORMULAS.tolist())
    said = done("predict", "model.kc", "safe.csv", "--target", "kind", "--safe-csv", "--force")
    assert "Accuracy: 100.0 %" in said


def test_numbers_need_no_spelling(files):
    np.savez("numbers.npz", X=X, y=np.where(WORDS == "setosa", -1, 1))
    done("fit", "numbers.npz", "--force")
    done("predict", "model.kc", "numbers.npz", "--safe-csv")
    assert set(cells_of("labels.csv")) == {"-1", "1"}
    done("predict", "model.kc", "numbers.npz", "--force")


# ---------------------------------------------------------------- without optional packages


def test_without_its_packages_the_command_line_ends_with_a_sentence():
    """As a command and when it is imported; one process, since starting takes longest."""
    script = """
        import sys
        import kernelcoding_command
        for package in ("typer", "rich"):
            sys.modules[package] = None
            try:
                kernelcoding_command.main()
            except SystemExit as ended:
                print(ended.code)
            try:
                import kernelcoding.cli
            except ImportError as error:
                print(error)
            for name in [package, *(name for name in sys.modules if ".cli" in name)]:
                del sys.modules[name]
    """
    expected = [
        f"The command line needs {package}: pip install 'kernelcoding[cli]'"
        for package in ("typer", "typer", "rich", "rich")
    ]
    assert run_python(script).splitlines() == expected
