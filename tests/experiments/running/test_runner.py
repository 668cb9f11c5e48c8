"""Laws of the runner: nothing lost, nothing done twice, nothing seen that must not be seen."""

import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier

from helpers.experiments import blobs, entries, few_digits, results, stable, toy
from helpers.records import read_lines
from kernelcoding import KernelDictionaryLearning, KernelSparseCoder, SupervisedKernelCoding
from kernelcoding.experiments.definition import Method, Splits, Table
from kernelcoding.experiments.paper import digits
from kernelcoding.experiments.rows.one_kernel import nearest_code_row, residual_row, sparse_coder
from kernelcoding.experiments.running.classifiers import NearestCode
from kernelcoding.experiments.running.runner import Selection, interleaved, run_experiment
from kernelcoding.experiments.running.splitting import halves
from kernelcoding.kernels import Gaussian, Linear


def test_records_hold_what_the_format_promises(tmp_path):
    path = run_experiment(toy(tmp_path / "diary"), out=tmp_path / "runs", progress=False)
    header, *found = read_lines(path)
    assert header["kind"] == "experiment"
    assert {**header, "paper": ""} == {
        "kind": "experiment", "schema": 1, "experiment": "toy", "title": "Toy",
        "protocol": "None.", "paper": "", "metric": "accuracy", "quick": False,
    }  # fmt: skip
    assert len(found) == 6
    record = found[0]
    assert record["key"] == "table/first/None/0"
    assert [record[name] for name in ("kind", "schema", "experiment", "table", "method")] == [
        "result", 1, "toy", "table", "first",
    ]  # fmt: skip
    assert record["control_of"] is None
    assert (record["size"], record["split"], record["seed"]) == (None, 0, 0)
    assert record["paper"] == 90.0
    assert found[1]["paper"] is None
    assert record["nonzeros"] is None
    assert record["seconds"] > 0
    assert record["peak_memory_mb"] > 10
    assert record["versions"]["numpy"] == np.__version__
    assert record["finished"].endswith("Z")
    assert record["configuration"]["search_space"] == {"scale": [0.5, 1.0, 4.0]}
    confusion = np.array(record["artifacts"]["confusion"])
    assert confusion.sum() == 30
    assert record["value"] == pytest.approx(100 * np.trace(confusion) / 30, abs=1e-4)
    assert record["artifacts"]["classes"] == ["a", "b", "c"]


def test_the_search_never_sees_the_test_part(tmp_path):
    diary = tmp_path / "diary"
    run_experiment(toy(diary, n_splits=1), out=tmp_path, progress=False)
    split = halves(3)(blobs(None), 0)
    notes = entries(diary)
    per_cell = 3 * 3 * 2 + 2  # settings x folds x (fit, predict), then the final two
    assert len(notes) == 3 * per_cell
    for start in range(0, len(notes), per_cell):
        *searched, fit, predict = notes[start : start + per_cell]
        for what, _, rows in searched:
            assert set(rows) < set(split.train), what
        for asked, fitted in zip(searched[1::2], searched[::2], strict=True):
            assert not set(asked[2]) & set(fitted[2])
        assert fit[0] == "fit"
        assert sorted(fit[2]) == split.train.tolist()
        assert predict[0] == "predict"
        assert sorted(predict[2]) == split.test.tolist()
        assert fit[1] == predict[1] == 1.0  # the scale that is right


@pytest.mark.parametrize(
    "method",
    [
        residual_row("kSC", sparse_coder, Gaussian(), {"width": (0.3, 1), "alpha": (1e-3, 0.1)}),
        nearest_code_row("SC", sparse_coder, Linear(), {"alpha": (1e-3, 0.1)}, 1),
        Method("ridge", lambda s, n: RidgeClassifier(s["alpha"]), {"alpha": (1e-3, 1e3)}),
    ],
    ids=lambda method: method.name,
)
def test_another_test_part_changes_no_choice(tmp_path, method, rng):
    def spoilt(request):
        dataset = blobs(request)
        test = halves(3)(dataset, 0).test
        samples, target = dataset.samples.copy(), dataset.target.copy()
        samples[test] = rng.normal(size=(len(test), 5)) * 100
        target[test] = rng.permutation(target[test])
        return replace(dataset, samples=samples, target=target)

    base = replace(toy(tmp_path / "d", n_splits=1), tables=(Table("t", (method,), sizes=(12,)),))
    # Halves depend on the labels: the training part is fixed beforehand.
    split = halves(3)(blobs(None), 0)
    base = replace(base, splits={"splits": Splits(1, lambda dataset, number: split)})
    choices = []
    for name, load in (("a", blobs), ("b", spoilt)):
        path = run_experiment(replace(base, load=load), out=tmp_path / name, progress=False)
        record = read_lines(path)[1]
        choices.append({**record["configuration"], "search_seconds": None})
        assert record["configuration"]["cross_validation"] is not None
    assert choices[0] == choices[1]


def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    hold, diary, out = tmp_path / "hold", tmp_path / "diary", tmp_path / "runs"
    hold.touch()
    code = (
        f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}\n"
        "from helpers.experiments import toy\n"
        "from kernelcoding.experiments.running.runner import run_experiment\n"
        f"run_experiment(toy({str(diary)!r}, {str(hold)!r}), out={str(out)!r}, progress=False)"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    path = out / "toy.jsonl"
    try:
        limit = time.monotonic() + 120
        while not (diary.exists() and diary.read_text().count("\n") > 20):
            assert process.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.02)
        with pytest.raises(BlockingIOError, match=f"process {process.pid}"):
            run_experiment(toy(diary), out=out, progress=False)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    before = path.read_bytes()
    assert [record.get("key") for record in read_lines(path)] == [None, "table/first/None/0"]
    hold.unlink()
    diary.unlink()
    run_experiment(toy(diary, str(hold)), out=out, progress=False)
    assert path.read_bytes().startswith(before)  # nothing lost, nothing rewritten
    assert len(entries(diary)) == 5 * 20  # five cells, none of them the finished one
    whole = run_experiment(toy(tmp_path / "other"), out=tmp_path / "whole", progress=False)
    assert stable(results(path)) == stable(results(whole))
    keys = [record["key"] for record in read_lines(path)[1:]]
    assert len(keys) == len(set(keys)) == 6


def test_a_broken_last_line_is_computed_again_and_nothing_else(tmp_path):
    diary = tmp_path / "diary"
    path = run_experiment(toy(diary), out=tmp_path, progress=False)
    before = stable(results(path))
    path.write_bytes(path.read_bytes()[:-100])
    diary.unlink()
    damaged = r"last line \(7\) is damaged.*moved to toy\.jsonl\.damaged"
    with pytest.warns(UserWarning, match=damaged):
        run_experiment(toy(diary), out=tmp_path, progress=False)
    assert len(entries(diary)) == 20
    assert stable(results(path)) == before


def test_a_finished_run_does_not_even_read_the_data(tmp_path, capsys):
    run_experiment(toy(tmp_path / "diary"), out=tmp_path, progress=False)
    again = replace(toy(tmp_path / "diary"), load=lambda request: 1 / 0)
    run_experiment(again, out=tmp_path)
    assert "6 of 6 results are in" in capsys.readouterr().err


def test_several_processes_find_what_one_finds(tmp_path):
    small = digits.digits_experiment(2, 2, (12,), quick=True)
    splits = {"splits": Splits(2, halves(2, n_train=15))}
    small = replace(small, load=partial(few_digits, 300), splits=splits)
    chosen = Selection(methods=("kSC", "kLLC", "sparse coding, Gaussian", "l-SkSC"))
    files = [
        run_experiment(small, out=tmp_path / name, n_jobs=jobs, selection=chosen, progress=False)
        for name, jobs in (("serial", 1), ("parallel", 2))
    ]
    serial, parallel = (stable(results(path)) for path in files)
    assert len(serial) == 8
    assert serial == parallel


def test_workers_get_splits_of_their_own():
    cells = list(toy("d", n_splits=3).cells())
    order = [(cell.split, cell.method.name) for cell in interleaved(cells, 2)]
    assert [split for split, _ in order] == [0, 1, 0, 1, 0, 1, 2, 2, 2]
    assert set(order) == {(cell.split, cell.method.name) for cell in cells}


def test_an_error_names_its_cell_and_keeps_what_is_done(tmp_path):
    def fail(settings, n_atoms):
        raise ZeroDivisionError("no such thing")

    base = toy(tmp_path / "diary", n_splits=1)
    rows = (base.tables[0].methods[0], Method("broken", fail))
    with pytest.raises(ZeroDivisionError) as caught:
        run_experiment(replace(base, tables=(Table("table", rows),)), out=tmp_path, progress=False)
    assert "in toy, table/broken/None/0" in caught.value.__notes__
    assert len(read_lines(tmp_path / "toy.jsonl")) == 2


def test_learning_that_was_interrupted_is_no_result(tmp_path):
    """Estimators keep their best dictionary at Ctrl-C; a record of it would be a wrong number."""

    def interrupt(progress):
        raise KeyboardInterrupt

    options = {"n_atoms": 5, "callback": lambda p: p.iteration and interrupt(p)}

    def build(settings, n_atoms):
        return KernelDictionaryLearning(KernelSparseCoder("linear"), **options)

    def build_per_class(settings, n_atoms):
        return OneVsRestClassifier(SupervisedKernelCoding(KernelSparseCoder("linear"), **options))

    method = Method("stopped", build, head=lambda settings: NearestCode())
    at_the_end, in_the_search = method, replace(method, head_space={"x": (1, 2)})
    base = toy(tmp_path / "d", n_splits=1)
    for row in (at_the_end, in_the_search, Method("one of several", build_per_class)):
        tables = (Table("table", (row,)),)
        with pytest.raises(KeyboardInterrupt):
            run_experiment(replace(base, tables=tables), out=tmp_path, progress=False)
    assert len(read_lines(tmp_path / "toy.jsonl")) == 1


def test_warnings_are_kept_with_the_result(tmp_path):
    def loud(settings, n_atoms):
        warnings.warn("mind the step", stacklevel=2)
        return RidgeClassifier()

    base = toy(tmp_path / "d", n_splits=1)
    table = Table("table", (Method("loud", loud),))
    path = run_experiment(replace(base, tables=(table,)), out=tmp_path, progress=False)
    assert read_lines(path)[1]["artifacts"]["warnings"] == ["mind the step"]


def test_methods_without_their_package_and_too_many_atoms_are_left_out(tmp_path, capsys):
    base = toy(tmp_path / "d", n_splits=1)
    row = base.tables[0].methods[0]
    table = Table(
        "table", (row, replace(row, name="rare", requires="no_such_package")), sizes=(5, 99)
    )
    path = run_experiment(replace(base, tables=(table,)), out=tmp_path)
    assert [record["key"] for record in read_lines(path)[1:]] == ["table/first/5/0"]
    said = capsys.readouterr().err
    assert "need no_such_package are left out" in said
    assert "table/first/99/0 is left out: more atoms than training samples" in said


def test_parts_of_an_experiment_can_be_run_alone(tmp_path):
    chosen = Selection(methods=["third"], splits=[1])
    path = run_experiment(toy(tmp_path / "d"), out=tmp_path, selection=chosen, progress=False)
    assert [record["key"] for record in read_lines(path)[1:]] == ["table/third/None/1"]
    for wrong in ({"methods": ["fourth"]}, {"tables": ["t"]}, {"sizes": [3]}, {"splits": [2]}):
        with pytest.raises(ValueError, match=rf"toy has no {next(iter(wrong))} .*; it has \["):
            run_experiment(toy(tmp_path / "d"), out=tmp_path, selection=Selection(**wrong))
