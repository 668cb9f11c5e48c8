"""Model files from strangers: whatever was changed in one, loading fails well or succeeds."""

import copy
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from helpers.model_files import (
    coder_of,
    contents,
    forge,
    write,
    write_honest,
    write_pipeline,
)
from kernelcoding.persistence import ModelFileError, load
from kernelcoding.persistence.reading import MAKERS

OLD = Path(__file__).parent / "files_of_format_1" / "several_bilinear.kc"
CLASSIFIERS = {"neighbours": KNeighborsClassifier(2), "support vectors": SVC()}


@pytest.fixture(scope="module", params=["own", "old", *CLASSIFIERS])
def honest(request, tmp_path_factory):
    """A file with every kind of part: of this package, of format 1, with scikit-learn inside."""
    path = tmp_path_factory.mktemp("honest") / "model.kc"
    if request.param in CLASSIFIERS:
        return write_pipeline(path, CLASSIFIERS[request.param])
    return OLD if request.param == "old" else write_honest(path)


# Anything JSON, with the words that mean something.
WORDS = st.sampled_from(
    [*MAKERS, "same", "float", "number", "dtype", "type", "state", "of", "as", "shape", "array_0"]
) | st.text(max_size=3)
LEAVES = st.none() | st.booleans() | st.integers(-2, 12) | st.floats() | WORDS
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
FUZZ = settings(
    max_examples=40,  # the campaign of model files goes on for as long as one likes
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def places(tree, found):
    """Every (container, key) of a JSON tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, item in items:
        found.append((tree, key))
        if isinstance(item, (dict, list)):
            places(item, found)
    return found


def survives(path):
    """Nothing but an estimator or a ModelFileError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return isinstance(load(path), BaseEstimator)
        except ModelFileError:
            return True


@FUZZ
@given(data=st.data())
def test_mutated_descriptions_fail_well(data, honest, tmp_path):
    arrays, description = contents(honest)
    for _ in range(data.draw(st.integers(1, 3))):
        spots = places(description, [])
        container, key = spots[data.draw(st.integers(0, len(spots) - 1))]
        how = data.draw(st.sampled_from(["replace", "copy", "drop", "rename"]))
        other, its_key = spots[data.draw(st.integers(0, len(spots) - 1))]
        if how == "replace":
            container[key] = data.draw(JSON)
        elif how == "copy":
            container[key] = copy.deepcopy(other[its_key])
        elif how == "drop" or isinstance(container, list):
            del container[key]
        else:
            container[data.draw(WORDS)] = container.pop(key)
    assert survives(write(tmp_path / "mutant", json.dumps(description), arrays))


@FUZZ
@given(tree=JSON)
def test_random_descriptions_fail_well(tree, tmp_path):
    for version in (1, 2):
        for whole in (tree, coder_of(groups=tree)):
            arrays = {"array_0": np.eye(2)}
            assert survives(forge(tmp_path / "random", whole, arrays, format=version))


@FUZZ
@given(
    cuts=st.lists(
        st.tuples(st.integers(0, 10**6), st.integers(0, 255), st.booleans()), min_size=1, max_size=4
    )
)
def test_mutated_bytes_fail_well(cuts, honest, tmp_path):
    content = bytearray(honest.read_bytes())
    for place, byte, near_the_end in cuts:  # the directory of a zip file is at its end
        span = min(600, len(content)) if near_the_end else len(content)
        content[len(content) - 1 - place % span] = byte
    path = tmp_path / "mutant"
    path.write_bytes(content)
    assert survives(path)
