"""A slice of every campaign, and what finds faults finds the faults that are made for it."""

import json
from fractions import Fraction

import numpy as np
import pytest

import kernelcoding as kc
from campaigns import __main__ as command
from campaigns import known, runner
from campaigns.base import read_case
from campaigns.model_files import ModelFiles
from campaigns.problems import Problems, exact
from campaigns.problems.campaign import PRIORS, SETS, _alpha, _parameters
from campaigns.problems.families import FAMILIES, ROUNDED
from campaigns.problems.reference import Sets, candidates, excess
from campaigns.problems.terms import Long, terms_of
from campaigns.registry import CAMPAIGNS
from helpers.crashing import Crashing
from kernelcoding import certificates
from kernelcoding.formulations import Penalised

CASES = {
    "problems": 45,
    "model-files": 30,
    "record-files": 6,
    "archives": 40,
    "command-line": 15,
    "estimators": 30,
}


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_slice_of_each_campaign(name, tmp_path):
    campaign = ModelFiles(check_bounds=False) if name == "model-files" else CAMPAIGNS[name]()
    tally = runner.run(campaign, 14, cases=CASES[name], folder=tmp_path)
    assert tally.failures == []
    assert tally.looked_at + sum(tally.known.values()) >= CASES[name]


@pytest.mark.parametrize("constraint", ["Free", "NonNegative", "SumToOne", "Simplex", "AtMost"])
@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in ROUNDED])
def test_the_reference_is_the_optimum_of_exact_arithmetic(family, constraint):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        arrays = FAMILIES[family](rng, 1, 3)
        prior = "NoPrior" if constraint == "AtMost" else str(rng.choice(PRIORS))
        given = _parameters(rng, prior, 3)
        terms = terms_of(prior, given, arrays, _alpha(rng, prior, arrays))
        sets = SETS.get(constraint, Sets(n_nonzero=2))
        found = candidates(arrays, terms, sets)
        zero = np.zeros((1, 3), Long)
        best = found[:, [np.argmax(excess(arrays, terms, zero, found)[0])]]
        value = exact.objective(arrays, terms, 0, [Fraction(0)] * 3) - exact.excess(
            arrays, terms, 0, zero[0], best[0, 0], sets
        )
        least = exact.optimum(arrays, terms, 0, sets)
        assert least <= value
        size = exact.objective(arrays, terms, 0, [Fraction(0)] * 3) + least
        assert value - least <= Fraction(1e-9) * size


def run_broken(tmp_path, monkeypatch, cases=40):
    monkeypatch.setattr(runner, "KNOWN", ())
    return runner.run(Problems(), 5, cases=cases, folder=tmp_path)


def test_certificates_that_are_no_bounds_are_found_and_replay(tmp_path, monkeypatch, capsys):
    def optimistic(problem, penalty, constraint, codes):
        return np.zeros(problem.n_samples)

    def stop_early(self, problem, options):
        result = solve(self, problem, options)
        return type(result)(0.9 * result.codes, np.zeros_like(result.converged), result.n_iter)

    solve = Penalised.solve
    monkeypatch.setattr(certificates, "certify", optimistic)
    monkeypatch.setattr(Penalised, "solve", stop_early)
    tally = run_broken(tmp_path, monkeypatch)
    assert sum("certificate 0 below the true gap" in line for line in tally.failures) > 10
    path = sorted(tmp_path.glob("problems-5-*.json"))[0]
    name, case = read_case(path)
    assert name == "problems"
    assert case["own"].shape == (1,)  # shrunk to one row
    assert "certificate 0 below" in json.loads(path.read_text())["message"]
    monkeypatch.setattr("sys.argv", ["campaigns", "replay", str(path)])
    assert command.main() == 1
    assert "certificate 0 below" in capsys.readouterr().out
    monkeypatch.undo()
    assert not runner.failure_of(Problems(), case)


def test_codes_that_are_not_optimal_are_found(tmp_path, monkeypatch):
    def careless(self, problem, options):
        result = solve(self, problem, options)
        return type(result)(result.codes * (1 + 1e-3), result.converged, result.n_iter)

    solve = Penalised.solve
    monkeypatch.setattr(Penalised, "solve", careless)
    tally = run_broken(tmp_path, monkeypatch)
    assert len(tally.failures) > 25
    assert any("above the optimum" in line for line in tally.failures)
    assert any("not feasible" in line for line in tally.failures)


def test_known_failures_are_counted_apart(tmp_path, monkeypatch):
    def nonsense(self, problem, options):
        raise RuntimeError("never mind")

    monkeypatch.setattr(Penalised, "solve", nonsense)
    excuse = known.Known("problems", "", "^RuntimeError .* never mind", "a test")
    monkeypatch.setattr(runner, "KNOWN", (excuse,))
    tally = runner.run(Problems(), 5, cases=4, folder=tmp_path)
    assert tally.known == {"a test": 4}
    assert tally.failures == []
    assert not list(tmp_path.iterdir())


def test_a_worker_that_dies_is_a_failure_and_not_the_end(tmp_path):
    campaign = ModelFiles(check_bounds=False)
    kc.save(kc.KernelBagOfWords().fit(np.eye(3)), tmp_path / "model")
    campaign.files = {"words": (tmp_path / "model").read_bytes()}
    try:
        case = runner.case_of(campaign, 0, 0)
        assert runner.failure_of(campaign, case) == ""
        campaign._worker.kill()
        assert runner.failure_of(campaign, case).startswith("crash")
        assert runner.failure_of(campaign, case) == ""
    finally:
        campaign.close()


def test_a_crash_is_a_failure_with_the_case_that_made_it(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "FAILURES", tmp_path)
    tally = runner.run_in_a_process(Crashing, 8, 60.0)
    assert tally.failures == ["crash, exit code 7"]
    _, case = read_case(tmp_path / "crashing-8-2.json")
    assert case == runner.case_of(Crashing(), 8, 2)
