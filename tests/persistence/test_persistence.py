"""Model files: what is loaded is what was saved, in this process and in another."""

import copy
import pickle
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kernelcoding as kc
from helpers.model_files import forge, there_and_back
from helpers.models import Q, X, answers, fitted, two_kernels
from kernelcoding import kernels as ks
from kernelcoding.persistence import load, save

ELSEWHERE = """
import pickle, sys
from pathlib import Path
from kernelcoding import persistence
from helpers.models import answers
folder = Path(sys.argv[1])
samples = pickle.loads((folder / "samples").read_bytes())
said = {name: answers(persistence.load(folder / name), Q) for name, Q in samples.items()}
try:
    persistence.load(folder / "forged")
except persistence.ModelFileError as error:
    said["forged"] = str(error), "kernelcoding.cli" in sys.modules
(folder / "answers").write_bytes(pickle.dumps(said))
"""


@pytest.fixture(scope="module")
def models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few iterations: not converged
        return fitted()


@pytest.fixture(scope="module")
def elsewhere(models, tmp_path_factory):
    """What another process makes of the files."""
    folder = tmp_path_factory.mktemp("models")
    for name, (model, _) in models.items():
        save(model, folder / name)
    forge(folder / "forged", {"class": "kernelcoding.cli:app", "state": {}})
    samples = {name: samples for name, (_, samples) in models.items()}
    (folder / "samples").write_bytes(pickle.dumps(samples))
    command = [sys.executable, "-W", "ignore", "-c", ELSEWHERE, str(folder)]
    here = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=here, timeout=300)
    assert done.returncode == 0, done.stderr
    return pickle.loads((folder / "answers").read_bytes())


@pytest.mark.filterwarnings("ignore")
def test_another_process_gives_the_same_answers(models, elsewhere):
    for name, (model, samples) in models.items():
        expected = answers(model, samples)
        assert expected, name
        assert expected.keys() == elsewhere[name].keys()
        for question, answer in expected.items():
            said = elsewhere[name][question]
            assert said.dtype == answer.dtype, (name, question)
            same = np.testing.assert_array_equal
            if answer.dtype.kind == "f":  # sums may be taken in another order: rounding errors
                precision = float(np.sqrt(np.finfo(answer.dtype).eps))
                same = partial(np.testing.assert_allclose, rtol=precision, atol=1e-3 * precision)
            same(said, answer, err_msg=f"{name}: {question}")


@pytest.mark.filterwarnings("ignore")
def test_parameters_and_kinds_are_as_saved(models, tmp_path):
    for model, samples in models.values():
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        assert type(again) is type(model)
        assert repr(again.get_params()) == repr(model.get_params())
        assert vars(again).keys() == vars(model).keys()
        if hasattr(model, "sparse_output") and model.sparse_output:
            assert type(again.transform(samples)) is type(model.transform(samples))


@pytest.mark.filterwarnings("ignore")
def test_online_learning_goes_on_after_loading(models, tmp_path):
    for name in ("dictionary", "landmarks"):
        model = copy.deepcopy(models[name][0])
        again = there_and_back(model, tmp_path)
        for part in (X[:30], X[30:]):
            model.partial_fit(part)
            again.partial_fit(part)
        np.testing.assert_array_equal(again.transform(Q), model.transform(Q))
        np.testing.assert_array_equal(again.dictionary_.weights, model.dictionary_.weights)


def test_unfitted_estimators_kernels_and_priors_are_saved_too(tmp_path):
    for model in (kc.KernelLLC(alpha=0.3), two_kernels(), kc.priors.ElasticNet(), ks.Precomputed()):
        again = there_and_back(model, tmp_path)
        assert repr(again) == repr(model)


def test_what_is_kept_to_save_time_is_not_written(models, tmp_path):
    model, _ = models["sparse"]
    assert model.dictionary_.facts.double is not None
    assert "facts" in vars(model.dictionary_)
    again = there_and_back(model, tmp_path)
    assert "facts" not in vars(again.dictionary_)
    assert again.dictionary_.gram is again.dictionary_.gram_before_clipping


def test_rooms_that_no_model_is_made_of_are_not_even_imported(elsewhere):
    message, imported = elsewhere["forged"]
    assert "kernelcoding.cli:app" in message
    assert not imported
