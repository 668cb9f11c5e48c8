"""Stable names: every class that models hold has one, and it leads back to the class."""

import dataclasses
import importlib
import inspect
import pkgutil
from functools import cached_property
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import kernelcoding as kc
from helpers.model_files import classes_in, contents
from helpers.processes import loaded_modules
from helpers.small_models import small_models
from helpers.tables import table_model
from kernelcoding.persistence import registry, save
from kernelcoding.persistence.history import NAMES_OF_FORMAT_1
from kernelcoding.persistence.registry import FOREIGN, LOCATIONS, OWN, class_named, stable_name_of

# Rooms that models are not made of: they read, print, download or compile.
ELSEWHERE = ("_compiled", "cli", "datasets", "displays", "experiments", "persistence", "report")
# Estimators that no model in a file can hold: functions of users, and what lives within one fit.
UNHELD = {"CallableKernel", "Custom", "DistanceKernel", "Known", "MultinomialRule"}

# Public, to be inherited from or to hold a function.
UNHELD_BASES = {
    *("BaseKernelCoder", "CallableKernel", "Channel", "Composite", "Constraint", "Kernel", "Prior"),
    *("DistanceKernel", "ExponentialKernel", "Rule", "SquaredDistanceKernel", "Wrapper"),
}


@pytest.fixture(scope="module")
def models():
    return small_models() | {"table": (table_model(), None)}


def modules():
    """All modules of the rooms that models may be made of."""
    for found in pkgutil.walk_packages(kc.__path__, "kernelcoding."):
        if found.name.split(".")[1] not in ELSEWHERE:
            yield importlib.import_module(found.name)


def kinds_in(value, seen):
    """The classes of an object and of all that it holds, without what it keeps to save time."""
    if id(value) in seen:
        return set()
    seen[id(value)] = value
    parts = []
    if isinstance(value, dict):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple)):
        parts = [*value]
    elif dataclasses.is_dataclass(value):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(getattr(value, "__dict__", None), dict):
        parts = [item for name, item in vars(value).items() if not is_kept(value, name)]
    return {type(value)}.union(*(kinds_in(part, seen) for part in parts))


def is_kept(value, name):
    return isinstance(inspect.getattr_static(type(value), name, None), cached_property)


@pytest.mark.parametrize("name", LOCATIONS)
def test_names_lead_to_classes_and_back(name):
    kind = class_named(name)
    assert isinstance(kind, type)
    assert stable_name_of(kind) == name


@pytest.mark.parametrize("name", FOREIGN)
def test_classes_of_scikit_learn_are_made_of_attributes(name):
    """A compiled class would keep its state elsewhere, out of sight."""
    kind = class_named(name)
    assert issubclass(kind, BaseEstimator)
    assert vars(object.__new__(kind)) == {}
    assert not any(vars(base).get("__slots__") for base in kind.__mro__)


def test_one_name_is_one_class():
    assert len(set(LOCATIONS.values())) == len(LOCATIONS) == len(OWN) + len(FOREIGN)
    assert all(name.startswith("sklearn.") for name in FOREIGN)


def test_every_class_that_models_hold_has_a_name(models):
    met = set()
    for name, (model, _) in models.items():
        for kind in kinds_in(model, {}):
            if kind.__module__.startswith(("kernelcoding.", "sklearn.")):
                assert stable_name_of(kind) is not None, (name, kind)
                met.add(stable_name_of(kind))
    assert met >= OWN.keys()


def test_every_estimator_and_component_has_a_name():
    found = {
        value
        for module in modules()
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, BaseEstimator)
        and value.__module__ == module.__name__
    }
    bases = {base for kind in found for base in kind.__mro__[1:]}
    assert len(found - bases) > 50
    unnamed = {kind.__name__ for kind in found - bases if stable_name_of(kind) is None}
    assert unnamed == UNHELD


def test_every_public_class_of_models_has_a_name():
    """Also those that have subclasses."""
    public = [
        getattr(module, name) for module in modules() for name in getattr(module, "__all__", ())
    ]
    found = {kind for kind in public if isinstance(kind, type) and issubclass(kind, BaseEstimator)}
    assert len(found) > 50
    assert {kind.__name__ for kind in found if stable_name_of(kind) is None} == UNHELD_BASES


def test_files_call_classes_by_these_names_and_all_are_used(models, tmp_path):
    """A name that no file has any more would be a promise about nothing."""
    used = set()
    for name, (model, _) in models.items():
        save(model, tmp_path / "model.kc")
        said = classes_in(contents(tmp_path / "model.kc")[1]["model"])
        assert said <= LOCATIONS.keys(), name
        used |= said
    assert used >= OWN.keys()


def test_a_class_without_a_name_is_noticed(models, tmp_path, monkeypatch):
    location = LOCATIONS["LinearClassifier"]
    monkeypatch.delitem(LOCATIONS, "LinearClassifier")
    monkeypatch.delitem(registry._NAMES, location)
    with pytest.raises(ValueError, match=r"model\.(joint_)?classifier_ is a .*LinearClassifier"):
        save(models["linear"][0], tmp_path / "model.kc")


def test_names_of_format_1_are_complete():
    """Every name is in one of the files that stand for it."""
    assert set(NAMES_OF_FORMAT_1.values()) <= OWN.keys()
    files = [*(Path(__file__).parent / "files_of_format_1").glob("*.kc")]
    said = {name for path in files for name in paths_in(contents(path)[1]["model"])}
    assert said == NAMES_OF_FORMAT_1.keys()


def paths_in(tree):
    """What classes and records are called in a description of format 1."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    found = {name for part in parts for name in paths_in(part)}
    own = {tree.get("class"), tree.get("of")} if isinstance(tree, dict) else set()
    return found | {name for name in own if isinstance(name, str)}


def test_rooms_are_imported_when_a_model_needs_them():
    rooms = ("images", "aggregation", "cli", "experiments")
    assert "kernelcoding" in loaded_modules()["package"]
    assert not {f"kernelcoding.{room}" for room in rooms} & loaded_modules()["package"]
