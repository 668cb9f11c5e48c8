"""Saving models: what cannot be saved is named, and no file is left half written."""

import os
import subprocess
import sys
import textwrap
import time

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
from kernelcoding.persistence.parts import part_of


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


@pytest.fixture
def dead():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def named_as_by(process, path):
    """The name under which a process would write a file."""
    part = part_of(path)
    return part.with_name(part.name.replace(f"-{os.getpid()}-", f"-{process}-"))


def test_parts_of_dead_saves_are_removed(tmp_path, dead):
    path, day = tmp_path / "model.kc", 24 * 3600
    gone = [named_as_by(dead, path), part_of(path), tmp_path / f"model.kc.{'0' * 32}.part"]
    kept = [
        part_of(path),  # another thread of this process may be writing it
        tmp_path / f"model.kc.{'1' * 32}.part",  # of an unknown process, and new
        tmp_path / f"model.kc.{'f' * 8}-{dead}-{'0' * 16}.part",  # of another machine
        named_as_by(dead, tmp_path / "other.kc"),
        tmp_path / "model.kc.part",
        tmp_path / f"my model.kc.{'0' * 32}.part",
        tmp_path / f"modelxkc.{'0' * 32}.part",
    ]
    for part in gone + kept:
        part.touch()
    for part in (*gone[1:], *kept[4:]):
        os.utime(part, (time.time() - day - 60,) * 2)
    save(kc.KernelLLC(), path)
    assert sorted(tmp_path.iterdir()) == sorted([path, *kept])


@pytest.mark.skipif(os.name != "posix", reason="other systems end processes otherwise")
def test_a_killed_save_leaves_nothing_after_the_next(tmp_path):
    path = tmp_path / "model.kc"
    script = f"""
    import os, signal
    import numpy as np
    import kernelcoding as kc
    def killed(file, **arrays):
        file.write(b"half of it")
        file.flush()
        print("written", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    np.savez_compressed = killed
    kc.save(kc.KernelLLC(), {str(path)!r})
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.stdout == b"written\n"
    assert len(list(tmp_path.iterdir())) == 1
    save(kc.KernelLLC(), path)
    assert list(tmp_path.iterdir()) == [path]


def test_parts_that_cannot_be_removed_do_no_harm(tmp_path, dead):
    path = tmp_path / "model.kc"
    folder = named_as_by(dead, path)
    folder.mkdir()
    save(kc.KernelLLC(), path)
    assert sorted(tmp_path.iterdir()) == sorted([path, folder])
