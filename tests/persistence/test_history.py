"""Older files are read as what they mean today."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import kernelcoding as kc
from helpers.model_files import coder_of, forge, refused
from kernelcoding.persistence import history, load, registry
from kernelcoding.persistence.history import renamed, upgraded

OLD = Path(__file__).parent / "files_of_format_1"


class Pair(NamedTuple):
    points: np.ndarray
    squared_norms: np.ndarray


@dataclass(frozen=True, slots=True)
class Couple:
    points: np.ndarray
    squared_norms: np.ndarray


def test_attributes_are_renamed_dropped_and_replaced(monkeypatch):
    def replaced(state):
        alpha = state.pop("alpha")
        return {**state, "kernel": ("at", alpha)}

    monkeypatch.setitem(history.UPGRADES[1], "KernelSparseCoder", replaced)
    monkeypatch.setitem(history.UPGRADES[1], "PointDictionary", renamed(points="places"))
    again = load(OLD / "sparse.kc")
    assert again.kernel == ("at", 0.01)
    assert again.dictionary_.places.shape == (12, 4)
    assert "points" not in vars(again.dictionary_)


def test_upgrades_are_taken_one_format_after_the_other(monkeypatch):
    monkeypatch.setattr(history, "FORMAT", 4)
    changes = {1: {"A": renamed(a="b")}, 2: {"A": renamed(b="c")}, 3: {"B": renamed(c="d")}}
    monkeypatch.setattr(history, "UPGRADES", changes)
    assert [upgraded("A", {name: 1}, 1) for name in "abx"] == [{"c": 1}, {"c": 1}, {"x": 1}]
    assert upgraded("A", {"a": 1}, 2) == {"a": 1}
    assert upgraded("A", {"a": 1, "b": 2}, 3) == {"a": 1, "b": 2}
    assert upgraded("B", {"c": 1}, 2) == {"d": 1}


def test_files_of_this_format_are_taken_as_they_are(monkeypatch, tmp_path):
    monkeypatch.setitem(history.UPGRADES[1], "KernelSparseCoder", renamed(alpha="groups"))
    for version, name in ((1, "groups"), (2, "alpha")):
        path = forge(tmp_path / "model.kc", coder_of(alpha=7), format=version)
        assert getattr(load(path), name) == 7


def test_upgrades_cannot_be_used_to_hide_methods(monkeypatch, tmp_path):
    monkeypatch.setitem(history.UPGRADES[1], "KernelSparseCoder", renamed(alpha="transform"))
    refused(forge(tmp_path / "model.kc", coder_of(alpha=7), format=1), "sets 'transform'")


@pytest.mark.parametrize("kind", [Pair, Couple])
def test_records_may_change_their_kind(kind, monkeypatch):
    monkeypatch.setitem(registry.LOCATIONS, "Points", f"{__name__}:{kind.__name__}")
    monkeypatch.setattr(registry.importlib, "import_module", in_place_of(__name__))
    prepared = load(OLD / "sparse.kc").dictionary_._prepared
    assert type(prepared) is kind
    np.testing.assert_allclose(prepared.squared_norms, (prepared.points**2).sum(axis=1))


def in_place_of(name):
    """Imports, of which one gives this very module."""
    original = registry.importlib.import_module
    here = type("module", (), {"Pair": Pair, "Couple": Couple})
    return lambda wanted: here if wanted == name else original(wanted)


def test_parameters_newer_than_the_file_have_their_defaults(tmp_path):
    for version in (1, 2):
        again = load(forge(tmp_path / "model.kc", coder_of(alpha=0.5), format=version))
        assert again.get_params() == kc.KernelSparseCoder(alpha=0.5).get_params()
        assert repr(again) == "KernelSparseCoder(alpha=0.5)"


def test_parameters_of_classifiers_become_a_rule():
    assert load(OLD / "linear.kc").classifier == "linear"
    assert load(OLD / "linear.kc").rho is None
    balanced = load(OLD / "linear_landmarks.kc")
    assert repr(balanced.classifier) == "LinearRule(class_weight='balanced')"
    assert "class_weight" not in vars(balanced)


def test_weights_of_scores_become_a_classifier():
    for name in ("lc_ksvd", "d_ksvd"):
        classifier = load(OLD / f"{name}.kc").classifier_
        assert classifier.weights.shape == (6, 3)
        assert not classifier.bias.any()
