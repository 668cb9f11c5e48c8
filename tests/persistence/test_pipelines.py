"""Model files hold whole pipelines: ours and scikit-learn's steps, in another process too."""

import pickle
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV

import kernelcoding as kc
from helpers.model_files import coder_of, contents, forge, refused, there_and_back
from helpers.pipelines import ask, estimators, pipelines
from kernelcoding.persistence import scikit_learn

ELSEWHERE = """
import pickle, sys
from pathlib import Path
import kernelcoding as kc
from helpers.pipelines import ask
folder = Path(sys.argv[1])
samples = pickle.loads((folder / "samples").read_bytes())
said = {name: ask(kc.load(folder / name), part) for name, part in samples.items()}
(folder / "answers").write_bytes(pickle.dumps(said))
"""


@pytest.fixture(scope="module")
def models():
    return pipelines() | estimators()


def assert_same(said, expected, name):
    """Labels are the same; numbers, too, but for the order that sums are taken in."""
    assert said.keys() == expected.keys(), name
    for question, answer in expected.items():
        assert said[question].dtype == answer.dtype, (name, question)
        same = np.testing.assert_array_equal
        if answer.dtype.kind == "f":
            same = partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-12)
        same(said[question], answer, err_msg=f"{name}: {question}")


def test_another_process_gives_the_same_answers_without_warnings(models, tmp_path):
    for name, (model, _) in models.items():
        kc.save(model, tmp_path / name)
    samples = {name: part for name, (_, part) in models.items()}
    (tmp_path / "samples").write_bytes(pickle.dumps(samples))
    command = [sys.executable, "-W", "error", "-c", ELSEWHERE, str(tmp_path)]
    here = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=here, timeout=300)
    assert done.returncode == 0, done.stderr
    said = pickle.loads((tmp_path / "answers").read_bytes())
    for name, (model, part) in models.items():
        expected = ask(model, part)
        assert expected, name
        assert_same(said[name], expected, name)


def test_parameters_and_attributes_are_as_saved(models, tmp_path):
    for name, (model, part) in models.items():
        again = there_and_back(model, tmp_path)
        assert type(again) is type(model)
        assert repr(again.get_params()) == repr(model.get_params()), name
        assert vars(again).keys() == vars(model).keys(), name
        assert_same(ask(again, part), ask(model, part), name)


def test_what_was_loaded_can_be_fitted_cloned_and_saved_again(models, tmp_path):
    model, part = models["scaled codes"]
    again = there_and_back(sklearn.clone(there_and_back(model, tmp_path)), tmp_path)
    X = np.random.default_rng(0).normal(size=(20, 5))
    assert again.fit(X, np.arange(20) % 2).predict(X).shape == (20,)
    np.testing.assert_array_equal(
        there_and_back(there_and_back(model, tmp_path), tmp_path).predict(part),
        model.predict(part),
    )


def test_the_best_of_a_search_is_saved(models, tmp_path):
    pipeline, part = models["residuals"]
    X = np.random.default_rng(0).normal(size=(30, 64))
    search = GridSearchCV(pipeline, {"pca__n_components": [2, 3]}, cv=2).fit(X, np.arange(30) % 2)
    with pytest.raises(ValueError, match="Save its best_estimator_"):
        kc.save(search, tmp_path / "model.kc")
    best = there_and_back(search.best_estimator_, tmp_path)
    np.testing.assert_array_equal(best.predict(part), search.predict(part))


def test_parts_shared_by_steps_stay_shared(tmp_path):
    coder = kc.KernelLLC()
    union = sklearn.pipeline.FeatureUnion([("a", coder), ("b", coder)])
    again = there_and_back(union, tmp_path)
    assert again.transformer_list[0][1] is again.transformer_list[1][1]


def test_files_say_which_scikit_learn_is_inside(models, tmp_path):
    kc.save(models["scaled codes"][0], tmp_path / "pipeline.kc")
    kc.save(kc.KernelLLC(), tmp_path / "coder.kc")
    assert contents(tmp_path / "pipeline.kc")[1]["scikit-learn"] == sklearn.__version__
    assert "scikit-learn" not in contents(tmp_path / "coder.kc")[1]


@pytest.mark.parametrize(("written", "warns"), [("0.9.2", True), ("{}.99", False), ("{}", False)])
def test_other_versions_of_scikit_learn_are_warned_of_once(written, warns, tmp_path):
    written = written.format(".".join(sklearn.__version__.split(".")[:2]))
    scaler = {"class": "sklearn.StandardScaler", "state": {}}
    tree = {"class": "sklearn.Pipeline", "state": {"steps": {"list": [scaler, scaler]}}}
    path = forge(tmp_path / "model.kc", tree, **{"scikit-learn": written})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kc.load(path)
    assert len(caught) == warns
    for warning in caught:
        assert issubclass(warning.category, UserWarning)
        assert Path(warning.filename) == Path(__file__)
        assert written in str(warning.message)
        assert sklearn.__version__ in str(warning.message)
    assert kc.load(forge(path, coder_of(alpha=3), **{"scikit-learn": "0.9"})).alpha == 3


def test_files_that_do_not_say_which_scikit_learn_are_refused(tmp_path):
    tree = {"class": "sklearn.StandardScaler", "state": {}}
    for version in (None, 3, [1, 2]):
        refused(forge(tmp_path / "model.kc", tree, **{"scikit-learn": version}), "damaged")


def test_every_class_of_scikit_learn_is_in_one_of_the_models(models, tmp_path):
    """Or its attributes were never looked at."""
    met = set()
    for model, _ in models.values():
        kc.save(model, tmp_path / "model.kc")
        met |= {name for name in scikit_learn.LOCATIONS if f'"{name}"' in said(tmp_path)}
    assert met == scikit_learn.LOCATIONS.keys()


def said(folder):
    with np.load(folder / "model.kc") as file:
        return str(file["description"])
