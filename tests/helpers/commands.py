"""Commands run in this process on small files, with the streams looked at."""

import csv

import numpy as np
import pytest
from sklearn.datasets import load_iris

cli = pytest.importorskip("kernelcoding.cli")
testing = pytest.importorskip("typer.testing")

X, Y = load_iris(return_X_y=True)
X, Y = X[::5], Y[::5]
WORDS = np.array(["setosa", "versi, color", 'the "third"'])[Y]


def invoke(*arguments, stdin=None):
    """What a command does, on a terminal so wide that no line is folded.

    ``fit`` compares no models and scales no columns unless it is told to: tests of the search say
    so, all others would wait for it.
    """
    arguments = [str(argument) for argument in arguments]
    if arguments[:1] == ["fit"] and "--help" not in arguments:
        arguments += [] if "--search" in arguments else ["--search", "none"]
        arguments += [] if "--scale" in arguments else ["--no-scale"]
    return testing.CliRunner().invoke(cli.app, arguments, input=stdin, env={"COLUMNS": "200"})


def output(*arguments):
    """The output of a command that must succeed, whatever it notes."""
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def done(*arguments):
    """The output of a command that must succeed, with nothing said about errors."""
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    assert _lines(result.stderr) == [], result.stderr
    return result.stdout


def _lines(stream):
    """The lines of the error stream, but for the one that a first call on a machine may write."""
    return [line for line in stream.splitlines() if not line.startswith("Note: Compiling, once")]


def noted(*arguments):
    """The notes of a command that must succeed, one sentence per line of the error stream."""
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    lines = _lines(result.stderr)
    assert all(line.startswith("Note: ") for line in lines)
    return [line.removeprefix("Note: ") for line in lines]


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
    """A CSV file, perhaps with a line of names."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([*([names] if names else []), *rows])
    return path


def write_samples(folder):
    """The same samples in every form."""
    rows = [[*sample, label] for sample, label in zip(X.tolist(), WORDS, strict=True)]
    names = ["a", "b", "c, d", 'e "long"', "kind"]
    write_csv(folder / "named.csv", rows, names)
    write_csv(folder / "bare.csv", rows)
    write_csv(folder / "samples.csv", X.tolist())
    write_csv(folder / "front.csv", [[label, *row] for row, label in zip(X, Y, strict=True)])
    np.save(folder / "samples.npy", X)
    np.save(folder / "table.npy", np.column_stack([X, Y]))
    np.savez(folder / "data.npz", X=X, y=WORDS, other=Y)
    return folder
