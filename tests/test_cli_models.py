"""fit, encode and predict on users' files; the list of data sets; errors without tracebacks."""

import csv
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

import kernelcoding as kc
from kernelcoding import persistence

cli = pytest.importorskip("kernelcoding.cli")
testing = pytest.importorskip("typer.testing")

from kernelcoding.cli import tables  # noqa: E402

X, Y = load_iris(return_X_y=True)
X, Y = X[::5], Y[::5]
WORDS = np.array(["setosa", "versi, color", 'the "third"'])[Y]


def invoke(*arguments):
    arguments = [str(argument) for argument in arguments]
    return testing.CliRunner().invoke(cli.app, arguments, env={"COLUMNS": "200"})


def done(*arguments):
    """The output of a command that must succeed, with nothing said about errors."""
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def failed(*arguments, code=1):
    """The message of a command that must fail politely, on one line of the error stream."""
    result = invoke(*arguments)
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    if code == 1:
        assert result.stderr.startswith("Error: ")
    return result.stderr


def write_csv(path, rows, names=None):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([*([names] if names else []), *rows])
    return path


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """Commands run in an empty folder: defaults of --out are written there."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def files(in_folder):
    """The same samples in every form."""
    rows = [[*sample, label] for sample, label in zip(X.tolist(), WORDS, strict=True)]
    names = ["a", "b", "c, d", 'e "long"', "kind"]
    write_csv(in_folder / "named.csv", rows, names)
    write_csv(in_folder / "bare.csv", rows)
    write_csv(in_folder / "samples.csv", X.tolist())
    write_csv(in_folder / "front.csv", [[label, *row] for row, label in zip(X, Y, strict=True)])
    np.save(in_folder / "samples.npy", X)
    np.save(in_folder / "table.npy", np.column_stack([X, Y]))
    np.savez(in_folder / "data.npz", X=X, y=WORDS, other=Y)
    return in_folder


# ------------------------------------------------------------------------------------ reading files


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
    read = tables.read(files / name, target)
    np.testing.assert_array_equal(read.X, X)
    assert read.X.dtype == np.float64
    if labels is None:
        assert read.y is None
    else:
        np.testing.assert_array_equal(read.y, labels)
        assert read.y.dtype.kind == labels.dtype.kind


def read_text(path, text, target=None):
    path.write_text(text, encoding="utf-8")
    return tables.read(path, target)


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
        with pytest.raises(ValueError, match="features must be numbers"):
            read_text(tmp_path / "t.csv", f"1.5,{hole},3\n4,5,6\n")


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
    ],
)
def test_labels_are_integers_where_they_can_be(cells, labels, tmp_path):
    path = write_csv(tmp_path / "t.csv", [[i, cell] for i, cell in enumerate(cells)])
    found = tables.read(path, "1").y
    assert found.tolist() == labels
    assert found.dtype.kind == np.array(labels).dtype.kind


BROKEN = {
    "empty.csv": (b"", "holds no samples"),
    "blank.csv": (b"\n\n", "holds no samples"),
    "names.csv": (b"a,b,c\n", "holds no samples"),
    "ragged.csv": (b"1,2,3\n1,2\n", r"different numbers of cells, \[2, 3\]"),
    "header.csv": (b"a,b,c\n1,2\n3,4\n", r"different numbers of cells, \[2, 3\]"),
    "words.csv": (b"a,b\n1,2\n3,cat\n", "features must be numbers .*cat.* --target"),
    "latin.csv": ("a,é\n1,2\n".encode("latin-1"), "no .csv file, or damaged"),
    "quote.csv": (b'1,"' + b"2" * 200_000 + b'"\n', "no .csv file, or damaged"),
    "empty.npy": (b"", "no .npy file, or damaged"),
    "text.npy": (b"1,2,3\n", "must hold arrays of numbers"),
    "empty.npz": (b"", "no .npz file, or damaged"),
    "cut.npz": (b"PK\x03\x04 and no more", "no .npz file, or damaged"),
    "data.xlsx": (b"PK", r"expected a file ending in \.csv, \.npy, \.npz, \.parquet"),
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "nothing.csv does not exist"),
        (["named.csv"], "features must be numbers"),
        (["named.csv", "--target", "sort"], "no column 'sort'; it has columns a, b, c, d, e"),
        (["bare.csv", "--target", "5"], "no column '5'; it has 5 columns"),
        (["bare.csv", "--target", "-6"], "no column '-6'"),
        (["bare.csv", "--target", "--4"], "no column '--4'"),
        (["bare.csv", "--target", "²"], "no column '²'"),
        (["data.npz", "--target", "z"], "no array 'z'; it has ['X', 'y', 'other']"),
        (["samples.csv", "--classifier", "residual"], "A classifier needs labels: --target"),
        (["samples.csv", "--classifier", "linear", "--atoms", "5"], "needs labels"),
        (["data.npz", "--classifier", "bilinear"], "--classifier bilinear learns its atoms"),
        (["data.npz", "--coder", "pursuit", "--alpha", "0.1"], "--coder pursuit has no alpha."),
        (["data.npz", "--coder", "words", "--alpha", "0.1"], "--coder words has no alpha."),
        (["data.npz", "--kernel", "cubic"], "unknown kernel name 'cubic'; the names are linear"),
        (["data.npz", "--kernel", "linear", "--gamma", "1"], "--kernel linear has no gamma"),
        (["data.npz", "--gamma", "wide"], "--gamma must be a number, median or scale, got 'wide'"),
        (["data.npz", "--gamma", "-1"], "gamma"),
        (["data.npz", "--alpha", "-1"], "alpha"),
        (["data.npz", "--atoms", "0"], "atoms"),
        (["data.npz", "--out", "."], "--out must be a file, . is a folder"),
    ],
)
def test_wrong_requests_are_explained(arguments, message, files):
    said = failed("fit", *arguments)
    assert message in said
    assert len(said.splitlines()) == 1
    assert not (files / "model.kc").exists()


def test_missing_numbers_and_labels_are_explained(in_folder):
    np.savez("data.npz", X=np.array([[1.0, np.nan], [2.0, 3.0]]))
    assert "contains NaN" in failed("fit", "data.npz")
    write_csv(in_folder / "nan.csv", [[1, "nan"], [2, 3]])
    assert "contains NaN" in failed("fit", "nan.csv")
    write_csv(in_folder / "hole.csv", [[1, 2, "x"], [2, 3, ""], [3, 4, " "]])
    assert "2 of 3 samples have no label" in failed("fit", "hole.csv", "--target", "2")
    np.savez("short.npz", X=X, y=Y[:3])
    assert "inconsistent numbers of samples" in failed("fit", "short.npz")
    np.savez("nothing.npz", A=X)
    assert "must hold an array X (and y for labels), got ['A']" in failed("fit", "nothing.npz")


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit"],
        ["fit", "data.npz", "--coder", "dense"],
        ["fit", "data.npz", "--classifier", "svm"],
        ["fit", "data.npz", "--alpha", "much"],
        ["fit", "data.npz", "--colour", "red"],
        ["encode", "model.kc"],
        ["predict"],
        ["guess"],
    ],
)
def test_usage_errors_have_their_own_exit_code(arguments, files):
    said = failed(*arguments, code=2)
    assert "Usage:" in said


# ---------------------------------------------------------------------------------- fit and predict

CODERS = {
    "sparse": kc.KernelSparseCoder,
    "llc": kc.KernelLLC,
    "lcc": kc.KernelLCC,
    "words": kc.KernelBagOfWords,
    "pursuit": kc.KernelMatchingPursuit,
}


@pytest.mark.parametrize("name", CODERS)
def test_codes_are_those_of_the_library(name, files):
    said = done("fit", "samples.csv", "--coder", name, "--gamma", "0.5", "--n-jobs", "1")
    assert said == f"{CODERS[name].__name__} of 30 samples: model.kc\n"
    assert done("encode", "model.kc", "samples.npy") == "30 codes of 30 atoms: codes.npz\n"
    expected = CODERS[name](kernel=kc.kernels.Gaussian(gamma=0.5)).fit(X).transform(X)
    codes = sparse.load_npz("codes.npz")
    np.testing.assert_array_equal(codes.toarray(), expected)
    done("encode", "model.kc", "named.csv", "--target", "kind", "--out", "new/folder/codes.NPY")
    np.testing.assert_array_equal(np.load("new/folder/codes.NPY"), expected)
    done("encode", "model.kc", "samples.csv", "--out", "codes.csv")
    np.testing.assert_allclose(np.loadtxt("codes.csv", delimiter=","), expected, rtol=1e-8)


def read_labels(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [cell for (cell,) in csv.reader(file)]


@pytest.mark.parametrize("name", CODERS)
def test_residual_labels_are_those_of_the_library(name, files):
    done("fit", "named.csv", "--target", "kind", "--coder", name)
    said = done("predict", "model.kc", "named.csv", "--target", "kind")
    library = kc.ResidualClassifier(CODERS[name](random_state=0)).fit(X, WORDS)
    expected = library.predict(X)
    assert read_labels("labels.csv") == expected.tolist()  # with their commas and quotes
    assert said == f"30 labels: labels.csv\nAccuracy: {100 * np.mean(expected == WORDS):.1f} %\n"
    done("predict", "model.kc", "data.npz", "--out", "labels.npz")
    with np.load("labels.npz", allow_pickle=False) as found:
        np.testing.assert_array_equal(found["labels"], expected)
        np.testing.assert_array_equal(found["scores"], library.decision_function(X))
    done("encode", "model.kc", "samples.npy")
    codes = sparse.load_npz("codes.npz").toarray()
    np.testing.assert_array_equal(codes, library.coder_.transform(X))


@pytest.mark.parametrize("name", ["auto", "linear", "bilinear", "max-margin"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_supervised_labels_are_those_of_the_library(name, files):
    invoke("fit", "table.npy", "--target", "-1", "--atoms", 6, "--classifier", name)
    classifier = "linear" if name == "auto" else name
    coder = kc.KernelSparseCoder(n_jobs=-1, random_state=0)
    library = kc.SupervisedKernelCoding(coder, n_atoms=6, classifier=classifier).fit(X, Y)
    done("predict", "model.kc", "samples.npy", "--out", "labels.npy")
    labels = np.load("labels.npy", allow_pickle=False)
    np.testing.assert_array_equal(labels, library.predict(X))
    assert labels.dtype.kind == "i"
    assert "of 6 atoms" in done("encode", "model.kc", "samples.npy")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_atoms_and_kernels_are_learned_where_asked(files):
    invoke("fit", "samples.csv", "--atoms", 5)
    model = persistence.load("model.kc")
    assert isinstance(model, kc.KernelDictionaryLearning)
    assert model.transform(X).shape == (30, 5)
    said = failed("predict", "model.kc", "samples.csv")
    assert "model.kc holds a KernelDictionaryLearning, which predicts no labels" in said
    for arguments, coder in (
        (["samples.csv"], lambda model: model),
        (["data.npz"], lambda model: model.coder),
        (["data.npz", "--atoms", 9, "--classifier", "residual"], lambda model: model.coder),
        (["samples.csv", "--atoms", 5], lambda model: model),
        (["data.npz", "--atoms", 5], lambda model: model),
    ):
        assert invoke("fit", *arguments, "--learn-kernel").exit_code == 0
        assert coder(persistence.load("model.kc")).learn_kernel is True, arguments


def test_several_labels_a_sample(in_folder):
    several = np.stack([Y == 0, Y > 0], axis=1).astype(int)
    np.savez("data.npz", X=X, y=several, one=Y)
    assert invoke("fit", "data.npz", "--atoms", 6).exit_code == 0
    assert "Accuracy" in done("predict", "model.kc", "data.npz")
    expected = persistence.load("model.kc").predict(X)
    np.testing.assert_array_equal(np.loadtxt("labels.csv", delimiter=",", dtype=int), expected)
    said = failed("predict", "model.kc", "data.npz", "--target", "one")
    assert "must hold labels of shape (30, 2), got (30,)" in said


def test_labels_of_the_library_s_own_models_are_never_pickled(in_folder):
    model = kc.ResidualClassifier().fit(X, WORDS.astype(object))
    persistence.save(model, "model.kc")
    np.save("samples.npy", X)
    for name in ("labels.npy", "labels.npz", "labels.csv"):
        done("predict", "model.kc", "samples.npy", "--out", name)
    np.testing.assert_array_equal(np.load("labels.npy", allow_pickle=False), model.predict(X))
    with np.load("labels.npz", allow_pickle=False) as found:
        np.testing.assert_array_equal(found["labels"], model.predict(X))
    assert read_labels("labels.csv") == model.predict(X).tolist()


def test_models_and_samples_must_fit_together(files):
    done("fit", "data.npz", "--out", "new/folder/model.kc")
    np.save("wide.npy", np.ones((3, 7)))
    np.save("cube.npy", np.ones((3, 2, 2)))
    for command in ("encode", "predict"):
        model = "new/folder/model.kc"
        assert "7 features" in failed(command, model, "wide.npy")
        assert failed(command, model, "cube.npy")
        assert "nothing.npy does not exist" in failed(command, model, "nothing.npy")
        said = failed(command, model, "samples.npy", "--out", "result.xlsx")
        assert "--out must end in .npz, .npy, .csv, got result.xlsx" in said
        assert "is not a model file" in failed(command, "data.npz", "samples.npy")
        assert "No such file" in failed(command, "nothing.kc", "samples.npy")
    persistence.save(kc.kernels.Linear(), "kernel.kc")
    assert "holds a Linear, which has no codes" in failed("encode", "kernel.kc", "samples.npy")
    assert "holds a Linear, which predicts no labels" in failed(
        "predict", "kernel.kc", "samples.npy"
    )
    persistence.save(kc.KernelLLC(), "unfitted.kc")
    assert "not fitted" in failed("encode", "unfitted.kc", "samples.npy")


def test_a_wrong_suffix_is_noticed_before_the_work(files, monkeypatch):
    monkeypatch.setattr(persistence, "load", lambda path: pytest.fail("work was begun"))
    failed("encode", "model.kc", "samples.npy", "--out", "codes.txt")
    failed("predict", "model.kc", "samples.npy", "--out", "labels")


@pytest.mark.parametrize(
    ("trouble", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (MemoryError(), 1, "Error: MemoryError"),
        (PermissionError(13, "Permission denied", "model.kc"), 1, "Permission denied: 'model.kc'"),
    ],
)
def test_troubles_of_the_machine_are_said(trouble, code, message, files, monkeypatch):
    def fit(*arguments):
        raise trouble

    monkeypatch.setattr(kc.KernelSparseCoder, "fit", fit)
    result = invoke("fit", "samples.npy")
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stdout == ""


def test_bugs_are_not_hidden(files, monkeypatch):
    def fit(*arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(kc.KernelSparseCoder, "fit", fit)
    assert isinstance(invoke("fit", "samples.npy").exception, ZeroDivisionError)


# ------------------------------------------------------------------------------------------ Parquet


def test_parquet_files_hold_the_same_samples(in_folder):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    for labels in (WORDS, Y, Y.astype(float), Y.astype(np.int8)):
        frame["kind"] = labels
        frame.to_parquet("data.parquet")
        for target in ("kind", "-1", "4"):
            read = tables.read(in_folder / "data.parquet", target)
            np.testing.assert_array_equal(read.X, X)
            np.testing.assert_array_equal(read.y, WORDS if labels is WORDS else Y)
            assert read.y.dtype.kind == ("U" if labels is WORDS else "i")
    frame["kind"] = WORDS
    frame["switch"] = X[:, 0] > 5
    frame.to_parquet("data.parquet")
    read = tables.read(in_folder / "data.parquet", "kind")
    np.testing.assert_array_equal(read.X, np.column_stack([X, X[:, 0] > 5]))
    assert "features must be numbers" in failed("fit", "data.parquet")
    assert "no column 'sort'" in failed("fit", "data.parquet", "--target", "sort")
    done("fit", "data.parquet", "--target", "kind")
    assert "Accuracy: 100" in done("predict", "model.kc", "data.parquet", "--target", "kind")
    frame.loc[3, "kind"] = None
    frame.to_parquet("data.parquet")
    assert "1 of 30 samples have no label" in failed("fit", "data.parquet", "--target", "kind")
    (in_folder / "broken.parquet").write_bytes(b"PAR1 and no more")
    assert failed("fit", "broken.parquet")


def test_parquet_without_its_packages_is_explained(in_folder, monkeypatch):
    (in_folder / "data.parquet").touch()
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "Parquet files need pandas and pyarrow" in failed("fit", "data.parquet")


# ----------------------------------------------------------------------- help, data sets, processes


@pytest.mark.parametrize(
    ("command", "examples"),
    [
        ([], ["fit data.csv --target label --out model.kc", "predict model.kc new.csv"]),
        (["fit"], ["fit data.npz --out model.kc", "fit data.csv --target label --atoms 200"]),
        (["encode"], ["encode model.kc data.npz --out codes.npz"]),
        (["predict"], ["predict model.kc new.csv --out labels.csv"]),
        (["reproduce"], ["reproduce yaleb --data-home DIR --out runs/"]),
        (["report"], ["report runs/ --out report.html"]),
        (["datasets"], ["datasets --how fmd"]),
    ],
)
def test_help_teaches_by_example(command, examples):
    said = done(*command, "--help")
    for example in examples:
        assert f"kernelcoding {example}" in said


MATERIALS = "fabric foliage glass leather metal paper plastic stone water wood"


def listed(home):
    """Lines of the list by set and form."""
    lines = done("datasets", "--data-home", home).splitlines()
    return {tuple(line.split()[:2]): line for line in lines}


def test_data_sets_there_and_missing(tmp_path):
    assert " no " in listed(tmp_path)["fmd", "images"]
    for kind in ("image", "mask"):
        for material in MATERIALS.split():
            folder = tmp_path / "fmd" / kind / material
            folder.mkdir(parents=True)
            (folder / f"{material}_object_001_new.jpg").write_bytes(b"\xff\xd8")
    lines = listed(tmp_path)
    assert " yes " in lines["fmd", "images"]
    assert str(tmp_path / "fmd") in lines["fmd", "images"]
    assert " no " in lines["virus", "8bit"]
    assert "datasets --how virus" in lines["virus", "8bit"]


def test_how_to_get_a_set(tmp_path):
    said = done("datasets", "--data-home", tmp_path, "--how", "fmd")
    assert "https://" in said
    assert str(tmp_path / "fmd") in said
    assert "No data set 'nothing'; there are yaleb, virus, fmd" in failed(
        "datasets", "--how", "nothing"
    )


def test_real_processes_speak_on_the_right_streams(files):
    def run(*arguments):
        command = [sys.executable, "-c", "from kernelcoding.cli import main; main()", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=files)

    good = run("fit", "named.csv", "--target", "kind", "--coder", "words")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout == "ResidualClassifier of 30 samples: model.kc\n"
    bad = run("predict", "model.kc", "nothing.csv")
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr == "Error: nothing.csv does not exist.\n"
