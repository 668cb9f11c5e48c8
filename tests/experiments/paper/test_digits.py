"""Digits: everything that a report shows, and numbers that can be computed by hand."""

import base64
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from helpers.experiments import few_digits, results
from kernelcoding import KernelSparseCoder, ResidualClassifier
from kernelcoding.experiments import REGISTRY
from kernelcoding.experiments.definition import Splits
from kernelcoding.experiments.paper import digits
from kernelcoding.experiments.running.runner import run_experiment
from kernelcoding.experiments.running.splitting import halves
from kernelcoding.kernels import Gaussian

TABLES = REGISTRY["digits"].quick.tables
QUICK = replace(
    REGISTRY["digits"].quick,
    tables=(TABLES[0], replace(TABLES[1], sizes=(20,))),
    load=partial(few_digits, 600),
    splits={"splits": Splits(1, halves(2, n_train=12))},
)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The quick version on the first 600 digits, with twelve training samples per class."""
    folder = tmp_path_factory.mktemp("digits")
    return results(run_experiment(QUICK, out=folder, progress=False))


def test_digits_leave_everything_a_report_shows(found):
    assert len(found) == len(list(QUICK.cells()))
    assert all(record["value"] > 60 for record in found.values())
    assert all(record["nonzeros"] > 0 for record in found.values())
    table = "every sample an atom, residual rule"
    pursuit = found[f"{table}/matching pursuit, OMP, Gaussian/None/0"]
    assert pursuit["nonzeros"] == 10
    assert found[f"{table}/bag of words, hard, linear/None/0"]["nonzeros"] == 1
    examples = pursuit["artifacts"]["examples"]
    assert len(examples) == 4
    for example in examples:
        weights = [abs(atom["weight"]) for atom in example["atoms"]]
        assert weights == sorted(weights, reverse=True)
        residuals = example["residuals"]
        assert min(residuals, key=residuals.get) == example["query"]["predicted"]
        for picture in (example["query"]["image"], example["atoms"][0]["image"]):
            assert base64.b64decode(picture.split(",")[1]).startswith(b"\x89PNG")
    # One atom of weight one: its class has the squared distance to it, the others k(x, x) = 1.
    hard = found[f"{table}/bag of words, hard, linear/None/0"]["artifacts"]["examples"]
    for example in hard:
        residuals = dict(example["residuals"])
        assert 0 <= residuals.pop(example["atoms"][0]["label"]) < 1
        assert set(residuals.values()) == {1.0}
    wrong = [e["query"]["label"] != e["query"]["predicted"] for e in examples]
    assert wrong == sorted(wrong, reverse=True)
    learned = found["accuracy against atoms/kSC/20/0"]["artifacts"]
    history, steps = learned["objective_history"], learned["objective_steps"]
    assert len(history) == len(steps) >= 3
    assert steps[:3] == ["codes", "atoms", "codes"]
    assert history[-1] <= history[0]
    assert len(learned["atom_images"]) == 12
    joint = found["accuracy against atoms/l-SkSC/20/0"]["artifacts"]
    assert joint["objective_steps"][:5] == ["codes", "atoms", "codes", "classifier", "atoms"]
    control = found["accuracy against atoms/l-SkSC, control/20/0"]
    assert control["configuration"]["eta"] == 1e-9
    assert control["control_of"] == "l-SkSC"
    assert {line["control_of"] for line in found.values()} == {None, "l-SkSC"}


def test_the_residual_rule_by_hand_gives_the_number_of_the_record(found):
    record = found[f"{digits.EVERY_SAMPLE}/sparse coding, Gaussian/None/0"]
    dataset = few_digits(600, None)
    split = QUICK.splits["splits"].make(dataset, 0)
    X, Q = dataset.samples[split.train], dataset.samples[split.test]
    distances = 2.0 - 2.0 * (X @ X.T)[np.triu_indices(len(X), 1)]
    coder = KernelSparseCoder(Gaussian(1.0 / np.median(distances)), alpha=0.01)
    model = ResidualClassifier(coder).fit(X, dataset.target[split.train])
    accuracy = 100 * model.score(Q, dataset.target[split.test])
    assert record["value"] == pytest.approx(accuracy, abs=1e-4)
    assert record["nonzeros"] == pytest.approx(
        np.count_nonzero(model.coder_.transform(Q), axis=1).mean(), rel=1e-3
    )
