"""The demo and `reproduce`: what they compute, print and leave behind."""

import io
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import kernelcoding as kc
from helpers.commands import invoke
from helpers.experiments import few_digits
from helpers.records import read_lines
from kernelcoding.experiments import registry
from kernelcoding.experiments.definition import Splits, Variants
from kernelcoding.experiments.paper import digits
from kernelcoding.experiments.running.splitting import halves
from kernelcoding.kernels import Gaussian
from kernelcoding.records import ResultRecord, read_runs, tables_of

demo = pytest.importorskip("kernelcoding.cli.demo")
comparison = pytest.importorskip("kernelcoding.cli.comparison")
rich_console = pytest.importorskip("rich.console")

SMALL = {
    "sparse coding": kc.KernelSparseCoder(alpha=0.05),
    "bag of words <hard>": kc.KernelBagOfWords(assignment="hard"),
    "pursuit": kc.KernelMatchingPursuit(n_nonzero=3),
}
TABLE = digits.EVERY_SAMPLE


@pytest.fixture
def small(monkeypatch):
    """Three coders on half of 160 digits, without dictionaries."""
    monkeypatch.setattr(digits, "METHODS", SMALL)
    made = digits.digits_experiment(1, 2, (5,), quick=True)
    splits = {"splits": Splits(1, halves(2))}
    made = replace(made, load=partial(few_digits, 160), splits=splits, tables=made.tables[:1])
    variants = Variants(replace(made, quick=False), made)
    known = {"digits": variants, "mit-indoor": variants}
    monkeypatch.setattr(registry, "REGISTRY", known)
    return made


def test_the_demo_prints_the_table_and_writes_the_report(small, tmp_path):
    out, runs = tmp_path / "new" / "folder" / "report.html", tmp_path / "runs"
    first = invoke("demo", "--out", out, "--runs", runs)
    assert first.exit_code == 0, first.output
    for word in (*demo.COLUMNS, *SMALL, "linear", "Gaussian", "report.html", "digits.jsonl"):
        assert word in first.output
    assert "l-SkSC against its control" in first.output
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "bag of words &lt;hard&gt;, Gaussian" in page
    assert "Quick version" in page
    # Again: nothing is computed, and that is said; the same records give the same page.
    before = (runs / "digits.jsonl").read_bytes()
    again = invoke("demo", "--out", out, "--runs", runs)
    assert "6 of 6 results are in" in again.stderr
    assert "Compiling" in first.output
    assert "Compiling" not in again.output
    assert (runs / "digits.jsonl").read_bytes() == before
    assert out.read_text(encoding="utf-8") == page


def test_the_demo_measures_what_it_says(small, tmp_path):
    done = invoke("demo", "--out", tmp_path / "r.html", "--runs", tmp_path / "runs")
    records = read_lines(tmp_path / "runs" / "digits.jsonl")[1:]
    assert [record["method"] for record in records] == [
        f"{method}, {kernel}" for method in SMALL for kernel in ("linear", "Gaussian")
    ]
    dataset = few_digits(160, None)
    split = small.splits["splits"].make(dataset, 0)
    X, Q = dataset.samples[split.train], dataset.samples[split.test]
    coder = kc.KernelSparseCoder(Gaussian("median"), alpha=0.05)
    model = kc.ResidualClassifier(coder).fit(X, dataset.target[split.train])
    codes = model.coder_.transform(Q)
    k, K = model.coder_.kernel_(Q, X), model.coder_.kernel_(X)
    error = np.mean(1.0 - 2.0 * (codes * k).sum(axis=1) + ((codes @ K) * codes).sum(axis=1))
    record = records[1]
    accuracy = 100 * model.score(Q, dataset.target[split.test])
    assert record["value"] == pytest.approx(accuracy, abs=1e-4)
    certificate = record["artifacts"]["certificate"]
    assert certificate["error"] == pytest.approx(error, rel=1e-3)
    assert certificate["gap"] == pytest.approx(model.coder_.certify(Q, codes).max(), abs=1e-9)
    assert certificate["gap"] < 1e-6
    # A greedy code is far from its optimum: the gap says so.
    greedy = kc.KernelMatchingPursuit(Gaussian("median"), n_nonzero=3).fit(X)
    gaps = greedy.certify(Q, greedy.transform(Q))
    assert records[5]["artifacts"]["certificate"]["gap"] == pytest.approx(gaps.max(), rel=1e-3)
    assert gaps.max() > 2 * gaps.min() > 0.01
    # The row of the table is that of the record.
    line = next(line for line in done.output.splitlines() if line.startswith(record["method"]))
    *_, printed, atoms, percent, gap, seconds = line.split()
    assert [float(word) for word in (printed, atoms, percent, gap, seconds)] == pytest.approx(
        [
            round(accuracy, 1),
            round(np.count_nonzero(codes, axis=1).mean(), 1),
            round(100 * error, 1),
            float(f"{certificate['gap']:.1e}"),
            round(record["seconds"], 2),
        ]
    )
    assert not hasattr(SMALL["sparse coding"], "dictionary_")  # the list itself is not fitted


def test_what_the_report_needs_is_missed_before_the_work(small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = invoke("demo", "--out", tmp_path / "r.html", "--runs", tmp_path / "runs")
    assert result.exit_code == 1
    assert "kernelcoding[report]" in result.stderr
    assert not (tmp_path / "runs").exists()


def test_the_demo_covers_every_coder():
    kinds = {type(coder) for coder in digits.METHODS.values()}
    assert kinds == {
        kc.KernelBagOfWords,
        kc.KernelSparseCoder,
        kc.KernelLLC,
        kc.KernelLCC,
        kc.KernelMatchingPursuit,
    }
    shown = {method.name for method in digits.VARIANTS.quick.tables[0].methods}
    left_out = {f"{name}, {kernel}" for name in digits.SLOW for kernel in ("linear", "Gaussian")}
    full = {method.name for method in digits.VARIANTS.full.tables[0].methods}
    assert shown == full - left_out


@pytest.mark.parametrize("name", ["mit-indoor", "mit_indoor"])
def test_reproduce_ends_with_our_numbers(small, tmp_path, name):
    result = invoke("reproduce", name, "--out", tmp_path, "--quick")
    assert result.exit_code == 0, result.output
    (recorded,) = read_runs(tmp_path / "digits.jsonl").experiments
    row = tables_of(recorded.results)[TABLE][0]
    line = next(line for line in result.output.splitlines() if line.startswith(row.method))
    assert line.split()[-2:] == [f"{row.value.mean:.1f}", "1"]
    assert TABLE in result.output
    assert str(tmp_path / "digits.jsonl") in result.output
    assert "There is no experiment 'mit'; there are" in invoke("reproduce", "mit").stderr


def test_reproduce_runs_the_tables_and_rows_that_are_asked_for(small, tmp_path):
    row = "pursuit, Gaussian"
    chosen = ("reproduce", "digits", "--out", tmp_path, "--table", TABLE, "--method", row)
    assert invoke(*chosen, "--method", "pursuit, linear").exit_code == 0
    found = {(one["table"], one["method"]) for one in read_lines(tmp_path / "digits.jsonl")[1:]}
    assert found == {(TABLE, row), (TABLE, "pursuit, linear")}
    wrong = invoke("reproduce", "digits", "--out", tmp_path, "--table", "all")
    assert wrong.exit_code == 1
    assert f"digits has no tables ['all']; it has ['{TABLE}']." in " ".join(wrong.stderr.split())
    wrong = invoke(*chosen, "--size", "7")
    assert "digits has no sizes [7]; it has [" in " ".join(wrong.stderr.split())


def test_ours_beside_the_papers():
    rows = [
        ("570 atoms", "kSC [x]", 570, (96.7, 97.0, 97.3, 97.5, 97.8), 96.9),
        ("570 atoms", "D-KSVD", 570, (94.0,), None),
        ("all samples", "SRC", None, (94.4, 94.6, 95.0, 95.4, 95.6), 97.2),
    ]
    results = [
        ResultRecord("x", f"{method}{split}", table, method, None, size, split, 0, value, paper)
        for table, method, size, values, paper in rows
        for split, value in enumerate(values)
    ]
    console = rich_console.Console(width=80, record=True, file=io.StringIO())
    for table in comparison.comparisons(tables_of(results)):
        console.print(table)
    said = [line.split() for line in console.export_text().splitlines()]
    assert said == [
        ["570", "atoms"],
        ["method", "atoms", "ours", "paper", "splits"],
        ["kSC", "[x]", "570", "97.3", "±", "0.4", "96.9", "within", "spread", "5"],
        ["D-KSVD", "570", "94.0", "1"],
        ["all", "samples"],
        ["method", "ours", "paper", "splits"],
        ["SRC", "95.0", "±", "0.5", "97.2", "below", "5"],
    ]
