"""Model files from strangers: descriptions that ask for more than a model are refused."""

import json
import re

import numpy as np
import pytest

import kernelcoding as kc
from helpers.model_files import coder_of, contents, refused, write
from helpers.names import stable
from kernelcoding.persistence import ModelFileError, load, save

FOREIGN = """os:system posix:system builtins:eval builtins:object builtins:dict subprocess:Popen
sklearn.linear_model._logistic:LogisticRegression sklearn.base:BaseEstimator
kernelcoding:KernelSparseCoder kernelcoding:persistence kernelcodings.coders:X kernelcoding
kernelcoding.kernels.names:as_kernel kernelcoding.kernels:Gaussian kernelcoding.kernels.vector:np
kernelcoding.kernels.base:clone kernelcoding.coders.sparse:KernelSparseCoder.fit
kernelcoding.cli:app kernelcoding.cli.options:CoderName kernelcoding.tables.samples:LabelledSamples
kernelcoding.persistence:_Reader kernelcoding.persistence:ModelFileError
kernelcoding._compiled.active_members:Row kernelcoding.datasets.transfer:Transfer
kernelcoding.records.file:RecordFile kernelcoding.report.html_file:Path
kernelcoding.solvers.result:Status kernelcoding.kernels.spd:LinAlgError
kernelcoding.kernels..vector:Gaussian kernelcoding.kernels.nothing:Gaussian
kernelcoding.kernels.vector:Nothing
kernelcoding.kernels.base:Kernel kernelcoding.kernels.precomputed:CallableKernel
kernelcoding.problem:KnownDictionary kernelcoding.gram:GramFacts kernelcoding.learning.rules:np
Kernel kernelcoding.KernelSparseCoder sklearn.GridSearchCV sklearn.KDTree sklearn.Nothing
sklearn.tree._tree:Tree sklearn.DecisionTreeClassifier sklearn.svm:SVC sklearn.base.BaseEstimator
kernelcoding.kernels/../cli:app kernelcoding.:x :x .kernels:x os"""


@pytest.mark.parametrize("name", ["", *FOREIGN.split()])
def test_only_classes_of_models_are_made(name, forge):
    for tree in (
        {"class": name, "state": {}},
        {"record": [], "of": name},
        coder_of(kernel={"class": name, "state": {}}),
    ):
        refused(forge(tree), "wants")


PYTHONS_OWN = """__class__ __dict__ __init__ __array_interface__ __array_struct__ __array__
__reduce__ __setstate__ __sklearn_tags__ __doc__"""
METHODS = "fit transform get_params set_params set_output _validate_params"


@pytest.mark.parametrize("name", [*PYTHONS_OWN.split(), *METHODS.split(), "a b", "", "1", "a.b"])
def test_only_plain_attributes_are_set(name, forge):
    for item in (3, {"dict": []}, coder_of(), {"tuple": []}):
        refused(forge(coder_of(**{name: item})), "sets")


def test_properties_slots_and_caches_are_not_forged(forge):
    for name in ("gram", "facts", "n_atoms"):
        state = {name: {"array": "a"}}
        tree = coder_of(dictionary_={"class": "PointDictionary", "state": state})
        refused(forge(tree, {"a": np.eye(2)}), f"sets '{name}'")
    fields = {"classes": 1, "members": 2, "multilabel": 3}
    for state in ({}, {"classes": 1}, {**fields, "more": 3}, {"decision": 1}):
        refused(forge(coder_of(groups={"class": "Labels", "state": state})), "damaged")
    good = load(forge(coder_of(groups={"class": "Labels", "state": fields})))
    assert good.groups.members == 2
    sift = {"class": "DenseRootSIFT", "state": {"memory": "pickles"}}
    refused(forge(sift), "sets 'memory'")


def test_memory_is_not_read_at_an_address_from_the_file(forge):
    """NumPy reads wherever ``__array_interface__`` of any object points to."""
    interface = {
        "dict": [
            ["data", {"tuple": [1, False]}],
            ["shape", {"tuple": [64]}],
            ["typestr", "|u1"],
            ["version", 3],
        ]
    }
    refused(forge(coder_of(groups=coder_of(__array_interface__=interface))), "sets")


def test_norms_of_other_points_are_not_read_beyond_their_end(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    save(kc.KernelSparseCoder().fit(X), tmp_path / "honest")
    arrays, description = contents(tmp_path / "honest")
    tree = json.dumps(description)
    norms = re.search(r'"squared_norms": {"array": "(array_[0-9]+)"}', tree)[1]
    arrays[norms] = arrays[norms][:4]
    with pytest.raises(ModelFileError, match="vectors and their norms do not go together"):
        load(write(tmp_path / "forged", tree, arrays))


def test_sparse_indices_beyond_the_matrix_are_refused(forge):
    good = {"data": np.ones(2), "indices": np.array([0, 2]), "indptr": np.array([0, 1, 2])}
    tree = {"sparse": [{"array": name} for name in good], "as": "csr_array", "shape": [2, 3]}
    assert load(forge(coder_of(groups=tree), good)).groups.toarray()[1, 2] == 1.0
    bad = {
        "indices": [np.array([0, 3]), np.array([-1, 0]), np.array([0]), np.array([0.0, 1.0])],
        "indptr": [np.array([0, 1]), np.array([0, 5, 2]), np.array([0, 1, 9]), np.array([1, 1, 2])],
        "data": [np.ones(1), np.array(["a", "b"]), np.ones((2, 2))],
    }
    for name, values in bad.items():
        for value in values:
            refused(forge(coder_of(groups=tree), {**good, name: value}))
    for change in ({"as": "object"}, {"as": None}, {"shape": [2]}, {"shape": [2, "x"]}):
        refused(forge(coder_of(groups={**tree, **change}), good))


def test_norms_beyond_their_vectors_are_not_read(forge):
    """Compiled code reads one norm per vector, without looking how many there are."""
    names = {"points": {"array": "p"}, "squared_norms": {"array": "n"}}
    tree = coder_of(groups={"class": "Points", "state": names})
    good = np.eye(3, 2)
    assert load(forge(tree, {"p": good, "n": np.ones(3)})).groups.squared_norms.size == 3
    for norms in (np.ones(2), np.ones(4), np.ones((3, 1)), np.array(1.0)):
        refused(forge(tree, {"p": good, "n": norms}), "vectors and their norms do not go together")
    refused(forge(tree, {"p": np.ones(3), "n": np.ones(3)}), "do not go together")
    arrays = {"p": good, "n": np.ones(2)}  # another object that looks like one
    refused(forge(coder_of(groups=coder_of(**names)), arrays), "sets 'squared_norms'")


NONSENSE = [
    [],
    [1],
    {},
    {"unknown": 1},
    {"same": -1},
    {"same": 0.0},
    {"same": True},
    {"same": 99},
    {"same": "0"},
    {"tuple": [{"same": 1}]},  # a tuple in itself
    {"float": "many"},
    {"float": None},
    {"float": [1]},
    {"number": []},
    {"number": ["<f8", "00"]},
    {"number": ["O", "00" * 8]},
    {"number": ["<U1", "00" * 4]},
    {"number": ["<f8", "zz"]},
    {"number": "<f8"},
    {"array": "nothing"},
    {"array": ["a"]},
    {"array": None},
    {"objects": 3, "shape": [3]},
    {"objects": [1, 2], "shape": [3]},
    {"objects": [1, 2]},
    {"list": 3},
    {"list": None},
    {"list": ["x", ["y"]]},
    {"dict": [1]},
    {"dict": [[1]]},
    {"dict": [[{"list": []}, 1]]},
    {"slice": [1, 2, 3, 4]},
    {"slice": None},
    {"record": [], "of": "Points"},
    {"record": [1], "of": "KernelSparseCoder"},
    {"record": [1]},
    {"class": None, "state": {}},
    {"class": ["KernelSparseCoder"], "state": {}},
    {"class": "Points", "state": {}},
    {"class": "Points", "state": {"points": 1, "squared_norms": 2, "more": 3}},
    {"class": "Points", "state": {"points": 1, "squared_norms": 2}},
    {"class": "KernelSparseCoder"},
    {"class": "KernelSparseCoder", "state": []},
    {"class": "KernelSparseCoder", "state": [["alpha", 1]]},
    {"class": "KernelSparseCoder", "state": "alpha"},
    {"dtype": 3},
    {"dtype": "V8"},
    {"dtype": "<f8,<f8"},
    {"dtype": "float64"},
    {"type": "builtins.type"},
    {"type": "numpy.memmap"},
    {"type": ["numpy.float64"]},
]


@pytest.mark.parametrize("tree", NONSENSE, ids=stable)
def test_nonsense_is_refused(tree, forge):
    refused(forge(tree))
    refused(forge(coder_of(groups=tree)))


@pytest.mark.parametrize("tree", [None, 3, "text", {"float": "1"}, {"list": []}], ids=stable)
def test_what_is_no_estimator_is_no_model(tree, forge):
    refused(forge(tree), "damaged")
