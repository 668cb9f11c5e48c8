"""Errors of commands on models: one line that says what is wrong, and an exit code."""

import re
import subprocess
import sys

import numpy as np
import pytest

import kernelcoding as kc
from helpers.commands import done, failed, invoke, noted, write_samples
from kernelcoding import memory_budget, persistence
from kernelcoding.coders import coding
from kernelcoding.model_search import CODERS


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Commands run in a folder of samples: defaults of --out are written there."""
    monkeypatch.chdir(tmp_path)
    return write_samples(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "nothing.csv does not exist"),
        (["named.csv", "--target", "sort"], "no column 'sort'; it has columns a, b, c, d, e"),
        (["bare.csv", "--target", "5"], "no column '5'; it has 5 columns"),
        (["bare.csv", "--target", "-6"], "no column '-6'"),
        (["bare.csv", "--target", "--4"], "no column '--4'"),
        (["bare.csv", "--target", "²"], "no column '²'"),
        (["data.npz", "--target", "z"], "no array 'z'; it has ['X', 'y', 'other']"),
        (["samples.npy", "--classifier", "residual"], "A classifier needs labels: --target"),
        (["samples.npy", "--classifier", "linear", "--atoms", "5"], "needs labels"),
        (["data.npz", "--classifier", "bilinear"], "--classifier bilinear learns its atoms"),
        (["data.npz", "--coder", "pursuit", "--alpha", "0.1"], "--coder pursuit has no alpha."),
        (["data.npz", "--coder", "words", "--alpha", "0.1"], "--coder words has no alpha."),
        (["data.npz", "--coder", "llc", "--alpha", "0.1"], "--coder llc has no alpha. Leave"),
        (["data.npz", "--kernel", "cubic"], "unknown kernel name 'cubic'; the names are linear"),
        (["data.npz", "--kernel", "linear", "--gamma", "1"], "--kernel linear has no gamma"),
        (["data.npz", "--gamma", "wide"], "a multiple such as 0.3*median, or scale, got 'wide'"),
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
        assert failed(command, "nothing.kc", "samples.npy") == "Error: nothing.kc does not exist.\n"
        assert "new is a folder, which is not what this model" in failed(command, model, "new")
    persistence.save(kc.kernels.Linear(), "kernel.kc")
    assert "holds a Linear, which has no codes" in failed("encode", "kernel.kc", "samples.npy")
    assert "holds a Linear, which predicts no labels" in failed(
        "predict", "kernel.kc", "samples.npy"
    )
    persistence.save(kc.KernelLLC(), "unfitted.kc")
    assert "not fitted" in failed("encode", "unfitted.kc", "samples.npy")


def test_matrices_for_a_kernel_of_vectors_are_told_their_kernels(files):
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(20, 3, 3))
    matrices = factors @ factors.transpose(0, 2, 1) + np.eye(3)
    np.savez("spd.npz", X=matrices, y=np.arange(20) % 2)
    for search in ("none", "quick"):
        said = failed("fit", "spd.npz", "--search", search)
        assert 'use the kernel "log-euclidean" or "stein", for bases of subspaces' in said
        assert "matrices of shape (3, 3)" in said
    assert "20 samples" in done("fit", "spd.npz", "--kernel", "log-euclidean")
    with pytest.raises(ValueError, match='use the kernel "log-euclidean" or "stein"'):
        kc.KernelSparseCoder().fit(matrices)


def test_a_wrong_suffix_is_noticed_before_the_work(files, monkeypatch):
    monkeypatch.setattr(persistence, "load", lambda path: pytest.fail("work was begun"))
    failed("encode", "model.kc", "samples.npy", "--out", "codes.txt")
    failed("predict", "model.kc", "samples.npy", "--out", "labels")


@pytest.mark.parametrize(
    ("trouble", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (MemoryError(), 1, "Out of memory. Let fewer rows be atoms: --landmarks 2000"),
        (
            PermissionError(13, "Permission denied", "model.kc"),
            1,
            "Error: model.kc: Permission denied.",
        ),
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


def test_a_wrong_kernel_is_the_only_thing_said_of_a_table(files):
    said = failed("fit", "named.csv", "--target", "kind", "--kernel", "gauss", "--scale")
    assert said.startswith("Error: unknown kernel name 'gauss'")


def test_a_table_without_labels_is_noted_where_they_may_have_been_forgotten(files):
    (said,) = noted("fit", "named.csv", "--search", "quick")
    assert said.endswith("predicts nothing. --target names the column that holds labels.")
    assert noted("fit", "named.csv", "--search", "quick", "--classifier", "none", "--force") == []


def test_bugs_are_not_hidden(files, monkeypatch):
    def fit(*arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(kc.KernelSparseCoder, "fit", fit)
    assert isinstance(invoke("fit", "samples.npy").exception, ZeroDivisionError)


def test_real_processes_speak_on_the_right_streams(files):
    """A good command and a bad one in one process: importing takes longer than either."""
    code = (
        "import sys\n"
        "from kernelcoding.cli import main\n"
        "sys.argv[1:] = 'fit data.npz --coder words --search none'.split()\n"
        "try: main()\n"
        "except SystemExit as done: assert done.code == 0\n"
        "sys.argv[1:] = ['predict', 'model.kc', 'nothing.csv']\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=files)
    assert ended.stdout == "ResidualClassifier of 30 samples: model.kc\n"
    assert ended.stderr == "Error: nothing.csv does not exist.\n"
    assert ended.returncode == 1


def test_advice_on_memory_names_options_that_exist(files, monkeypatch):
    """Within, the library advises parameters; a command advises its own options."""
    options = set(re.findall(r"--[a-z][a-z-]+", done("fit", "--help")))
    atoms = ["fit", "data.npz", "--atoms", 5]
    with memory_budget(1e-6):
        said = failed(*atoms, "--classifier", "linear", "--alpha", "0.1")
    assert "more than the budget of" in said
    done("fit", "data.npz", "--out", "model.kc")
    monkeypatch.setattr(coding.np, "empty", out_of_memory)
    coded = failed("encode", "model.kc", "samples.npy")
    for message in (said, coded):
        named = set(re.findall(r"--[a-z][a-z-]+", message))
        assert named
        assert named <= options
        assert "n_landmarks" not in message
        assert "sparse_output" not in message
    assert "llc" in CODERS


def out_of_memory(*_, **__):
    raise MemoryError


@pytest.mark.filterwarnings("always")
def test_a_warning_is_noted_once(files):
    """A label, a score and a certainty come from one code each; all of them may be zero."""
    done("fit", "data.npz", "--gamma", "0.5", "--force")
    np.save("far.npy", np.full((3, 4), 1e3))
    notes = invoke("predict", "model.kc", "far.npy").stderr.splitlines()
    zeros = [line for line in notes if "codes are all zero" in line]
    assert len(zeros) == 1
    assert "3 of 3" in zeros[0]
