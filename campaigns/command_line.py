"""Damaged files and odd options through the command line: a sentence, never a traceback."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.random import Generator

from .base import Case, Failure
from .mutations import damaged_array, damaged_bytes

CELLS = (
    "", " ", "nan", "inf", "-inf", "1e400", "1e308", "-0", "abc", "1,5", '"', "'", "0x10", "1_000",
    "=1+1", "\x00", "ü", "٣", "1e-320", "None", "true", "2019", "x" * 2000, "\n", "NaN",
)  # fmt: skip
OPTIONS = {
    "--coder": ("sparse", "llc", "lcc", "words", "pursuit", "nothing"),
    "--kernel": ("rbf", "linear", "poly", "laplacian", "chi2", "sigmoid", "precomputed", "no", ""),
    "--gamma": ("0.5", "median", "scale", "0", "-1", "nan", "inf", "1e300", "x"),
    "--alpha": ("0.1", "0", "-1", "nan", "inf", "1e300", "1e-300", "x"),
    "--atoms": ("3", "1", "0", "-1", "1000", "2.5"),
    "--classifier": ("auto", "none", "residual", "linear", "bilinear", "max-margin", "logistic"),
    "--target": ("kind", "4", "-1", "0", "99", "", "a", "y", "X"),
    "--n-jobs": ("1", "0", "-1", "2"),
    "--seed": ("0", "-1", "99999999999"),
    "--neighbors": ("2", "0", "-3", "1000"),
    "--landmarks": ("5", "0", "-1", "1000"),
    "--drop": ("a", "a,b", "nothing", ""),
    "--types": ("a=category", "kind=category", "a=date", "a", "=", "b=text"),
    "--sep": (",", ";", "tab", "::", ""),
    "--encoding": ("utf-8", "latin-1", "klingon"),
    "--groups": ("a", "kind", "nothing"),
}
ENDINGS = {
    "fit": ("m.kc",),
    "encode": ("c.npz", "c.npy", "c.csv", "c.txt"),
    "predict": ("l.csv", "l.npz", "l"),
    "evaluate": ("p.html", "p"),
}
OF_TABLES = ("--target", "--sep", "--encoding")  # options of every command that reads a file
FIT_ONLY = tuple(name for name in OPTIONS if name not in OF_TABLES)


def samples() -> tuple[np.ndarray, np.ndarray]:
    """Three classes of four features, not negative."""
    rng, labels = np.random.default_rng(0), np.arange(18) % 3
    return np.eye(4)[labels] + 0.3 * rng.random((18, 4)), np.array(["u", "v", "w"])[labels]


def rows() -> list[list[str]]:
    """The samples as cells, with a line of names."""
    X, y = samples()
    lines = [[f"{value:.4f}" for value in row] + [label] for row, label in zip(X, y, strict=True)]
    return [["a", "b", "c", "d", "kind"], *lines]


class CommandLine:
    """``fit``, ``encode``, ``predict`` and ``evaluate`` in this process."""

    name = "command-line"
    counts = "faults"
    share = 1.5

    @cached_property
    def model(self) -> bytes:
        """A model that predicts."""
        import kernelcoding as kc

        with tempfile.TemporaryDirectory() as folder:
            kc.save(kc.ResidualClassifier().fit(*samples()), Path(folder) / "model.kc")
            return (Path(folder) / "model.kc").read_bytes()

    @cached_property
    def table_model(self) -> bytes:
        """A model of a table with words and empty cells, as ``fit`` makes it."""
        from typer.testing import CliRunner

        from kernelcoding.cli import app

        with tempfile.TemporaryDirectory() as folder:
            data, out = Path(folder) / "data.csv", Path(folder) / "model.kc"
            names, *lines = rows()
            for i, line in enumerate(lines):
                line[0] = ("red", "blue", "")[i % 3]
                line[1] = line[1] if i % 4 else ""
            with data.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([names, *lines])
            arguments = ["fit", str(data), "--target", "kind", "--search", "none"]
            result = CliRunner().invoke(app, [*arguments, "--out", str(out)])
            if result.exit_code:
                raise Failure(f"the model was not made: {result.output[:200]}")
            return out.read_bytes()

    def draw(self, rng: Generator) -> Case:
        """A command, a file and some options."""
        command = str(rng.choice(["fit", "fit", "encode", "predict", "evaluate"]))
        form = str(rng.choice(["csv", "csv", "csv", "npz", "npy"]))
        content = _csv(rng) if form == "csv" else _numpy(rng, form)
        if rng.random() < 0.3:
            content = damaged_bytes(rng, content)
        model = self.table_model if rng.random() < 0.5 else self.model
        model = damaged_bytes(rng, model) if rng.random() < 0.2 else model
        names = [*OF_TABLES, *FIT_ONLY] if command == "fit" else list(OF_TABLES)
        options = []
        for name in rng.choice(names, int(rng.integers(0, min(4, len(names) + 1))), replace=False):
            options += [str(name), str(rng.choice(OPTIONS[str(name)]))]
        if command == "fit":  # a search takes seconds, so that few cases have one
            options += ["--search", "quick" if rng.random() < 0.03 else "none"]
        out = str(rng.choice(ENDINGS[command]))
        case: Case = {"command": command, "form": form, "content": content, "options": options}
        return {**case, "model": None if command == "fit" else model, "out": out}

    def label(self, case: Case) -> str:
        """Command and form of the file."""
        return f"{case['command']} {case['form']}"

    def check(self, case: Case) -> int:
        """Run the command; look at its end."""
        from typer.testing import CliRunner

        from kernelcoding.cli import app

        with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
            data, out = Path(folder) / f"data.{case['form']}", Path(folder) / case["out"]
            data.write_bytes(case["content"])
            arguments = [case["command"]]
            if case["model"] is not None:
                (Path(folder) / "model.kc").write_bytes(case["model"])
                arguments.append(str(Path(folder) / "model.kc"))
            option = "--report" if case["command"] == "evaluate" else "--out"
            arguments += [str(data), option, str(out), *case["options"]]
            result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception
            _ended_well(result.exit_code, result.stderr, out)
        return 1

    def smaller(self, case: Case) -> Iterator[Case]:
        """Fewer options; for CSV fewer lines, fewer columns, plain cells."""
        options = case["options"]
        for index in range(0, len(options), 2):
            yield {**case, "options": options[:index] + options[index + 2 :]}
        if case["form"] != "csv":
            return
        lines = case["content"].split(b"\n")
        for half in (lines[: len(lines) // 2], lines[len(lines) // 2 :]) if len(lines) > 1 else ():
            yield {**case, "content": b"\n".join(half)}
        for index in range(len(lines) if len(lines) <= 24 else 0):
            yield {**case, "content": b"\n".join(lines[:index] + lines[index + 1 :])}

    def close(self) -> None:
        """Nothing was started."""


def _ended_well(code: int, said: str, out: Path) -> None:
    if code not in (0, 1, 2):
        raise Failure(f"exit code {code}: {said[:200]}")
    if "Traceback" in said:
        raise Failure(f"a traceback: {said[-300:]}")
    # A note on how the file was read may come first.
    if code == 1 and not re.search(r"^Error: .{14}", said, re.MULTILINE):
        raise Failure(f"exit code 1 without a sentence: {said[:200]!r}")
    if code == 2 and not said.strip():
        raise Failure("exit code 2 without a word")
    if code == 0 and not out.exists():
        raise Failure("exit code 0, but nothing was written")
    if code and out.exists():
        raise Failure(f"exit code {code}, but {out.name} was written")
    if code == 0 and out.suffix == ".npy" and not np.isfinite(np.load(out)).all():
        raise Failure("codes are not finite")


def _csv(rng: Generator) -> bytes:
    """Cells replaced, lines cut and repeated, names dropped; other separators and encodings."""
    lines = rows()[int(rng.random() < 0.3) :]
    for _ in range(int(rng.integers(0, 4))):
        line = lines[int(rng.integers(0, len(lines)))]
        if line:
            line[int(rng.integers(0, len(line)))] = CELLS[int(rng.integers(0, len(CELLS)))]
    if rng.random() < 0.3:
        lines = lines[: int(rng.integers(0, len(lines) + 1))]
    if rng.random() < 0.15 and lines:
        lines[int(rng.integers(0, len(lines)))] = ["1"] * int(rng.integers(0, 9))
    if rng.random() < 0.2:
        column = int(rng.integers(0, 5))
        lines = [line[:column] + line[column + 1 :] for line in lines]
    buffer = io.StringIO()
    separator = str(rng.choice([",", ",", ",", ",", ";", "\t"]))
    csv.writer(buffer, delimiter=separator).writerows(lines)
    encoding = str(rng.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    return buffer.getvalue().encode(encoding, "replace")


def _numpy(rng: Generator, form: str) -> bytes:
    X, y = samples()
    arrays: dict[str, np.ndarray] = {"X": X, "y": y}
    for name in arrays:
        if rng.random() < 0.5:
            arrays[name] = damaged_array(rng, arrays[name])
    if rng.random() < 0.2:
        del arrays[str(rng.choice(["X", "y"]))]
    buffer = io.BytesIO()
    if form == "npy":
        np.save(buffer, arrays.get("X", y))
    else:
        np.savez(buffer, **arrays)
    return buffer.getvalue()
