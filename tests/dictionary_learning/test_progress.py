"""What `verbose` shows while a dictionary is learned: a bar, or lines where there is no tqdm."""

import sys

import pytest

import kernelcoding as kc
from helpers.learning import digits


def small(**parameters):
    return kc.KernelDictionaryLearning(n_atoms=6, tol=0, **parameters)


@pytest.mark.parametrize(("verbose", "lines"), [(0, 0), (1, 4), (2, 7)])
def test_progress_goes_to_stderr(verbose, lines, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as where it is not installed
    small(verbose=verbose, max_iter=3).fit(digits(60))
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == lines
    assert lines == 0 or "round 3/3 codes: objective" in err


def test_a_bar_shows_rounds_and_objective(capsys):
    pytest.importorskip("tqdm")
    dl = small(verbose=1, max_iter=3).fit(digits(60))
    out, err = capsys.readouterr()
    assert out == ""
    last = err.strip().splitlines()[-1].split("\r")[-1]
    assert "3/3" in last
    assert f"codes: objective {dl.objective_history_[-1]:.6g}" in last


def test_a_bar_that_ends_early_is_complete(capsys):
    pytest.importorskip("tqdm")
    small(verbose=1, max_iter=9, callback=lambda progress: progress.iteration == 2).fit(digits(60))
    assert "2/2" in capsys.readouterr().err.split("\r")[-1]
