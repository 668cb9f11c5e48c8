"""Saving models: what cannot be saved is named, and no file is left half written."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import kernelcoding as kc
from helpers.models import learned
from kernelcoding import images
from kernelcoding import kernels as ks
from kernelcoding.persistence import load, save


class Mine(kc.KernelSparseCoder):
    """A user's own class."""


UNSAVABLE = {
    r"model\.kernel is a builtins\.function": kc.KernelSparseCoder(kernel=lambda A, B: A @ B.T),
    r"model\.callback is a builtins\.function, .* Functions are code": learned(
        callback=lambda progress: None
    ),
    r"model\.random_state is a .*RandomState.* Give a number": learned(
        random_state=np.random.RandomState(0)
    ),
    r"model\.coder\.kernel\.kernels\[1\]\.gamma is a builtins\.complex": kc.ResidualClassifier(
        kc.KernelLLC(kernel=ks.MultipleKernel([ks.Linear(), ks.Gaussian(gamma=1j)]))
    ),
    r"model is a sklearn\..*DecisionTreeClassifier": DecisionTreeClassifier(),
    r"model\.coder is a sklearn\..*DecisionTree": kc.ResidualClassifier(DecisionTreeClassifier()),
    r"model is a .*GridSearchCV, .* Save its best_estimator_, the model": GridSearchCV(
        LogisticRegression(), {"C": [1, 2]}
    ),
    r"model\.steps\[1\]\[1\] is a .*GridSearchCV.* Save its best_estimator_": make_pipeline(
        kc.KernelLLC(), GridSearchCV(LogisticRegression(), {"C": [1, 2]})
    ),
    r"model\.steps\[0\]\[1\] cannot be saved: functions are code": make_pipeline(
        FunctionTransformer(np.log1p), kc.KernelLLC()
    ),
    r"model\.steps\[1\]\[1\] cannot be saved: functions": make_pipeline(
        StandardScaler(), FunctionTransformer(inverse_func=ks.Linear())
    ),
    r"model\.memory is a builtins\.str, .* set memory=None": make_pipeline(
        kc.KernelLLC(), memory="folder"
    ),
    r"model\.transformers\[0\]\[2\] is a .* Give the columns by name": ColumnTransformer(
        [("all", kc.KernelLLC(), make_column_selector("a"))]
    ),
    r"model is a .*Mine": Mine(),
    r"model\.kernel is a builtins\.type": kc.KernelSparseCoder(kernel=ks.Linear),
    r"model\.groups is a builtins\.set": kc.KernelSparseCoder(groups={1, 2}),
    r"model\.groups is a numpy\.ma": kc.KernelSparseCoder(
        groups=np.ma.masked_array([1, 2], [0, 1])
    ),
    r"model\.groups is a numpy\.ndarray": kc.KernelSparseCoder(
        groups=np.zeros(2, dtype=[("a", object)])
    ),
    r"model\.memory is a builtins\.str": images.DenseRootSIFT(memory="folder"),
    r"Expected an estimator of kernelcoding, got a dict": {"model": 1},
}


@pytest.mark.parametrize("message", UNSAVABLE)
def test_what_cannot_be_saved_is_named(message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save(UNSAVABLE[message], tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_methods_hidden_by_attributes_are_not_saved(tmp_path):
    coder = kc.KernelSparseCoder()
    coder.transform = 3
    with pytest.raises(ValueError, match=r"model\.transform"):
        save(coder, tmp_path / "model")


@pytest.mark.parametrize("trouble", [OSError("disk full"), KeyboardInterrupt()])
def test_an_interrupted_save_leaves_the_old_file(trouble, tmp_path, monkeypatch):
    path = tmp_path / "model.kc"
    save(kc.KernelLLC(alpha=0.25), path)

    def interrupted(file, **arrays):
        file.write(b"half of it")
        raise trouble

    monkeypatch.setattr(np, "savez_compressed", interrupted)
    with pytest.raises(type(trouble)):
        save(kc.KernelLLC(alpha=0.75), path)
    assert [found.name for found in tmp_path.iterdir()] == ["model.kc"]
    assert load(path).alpha == 0.25


def test_saving_replaces_follows_the_umask_and_wants_a_folder(tmp_path):
    path = tmp_path / "model.kc"
    plain = tmp_path / "plain"
    plain.touch()
    for alpha in (0.25, 0.75):
        save(kc.KernelLLC(alpha=alpha), str(path))
        assert load(str(path)).alpha == alpha
    assert path.stat().st_mode == plain.stat().st_mode
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
        save(kc.KernelLLC(), tmp_path / "nowhere" / "model.kc")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)
