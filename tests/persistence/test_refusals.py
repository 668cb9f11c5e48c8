"""Model files from strangers: descriptions that ask for more than a model are refused."""

import numpy as np
import pytest

from helpers.model_files import coder_of, forge, refused
from helpers.names import stable
from kernelcoding.persistence import load


@pytest.fixture
def forged(tmp_path):
    return tmp_path / "forged.kc"


FOREIGN = """os:system posix:system builtins:eval builtins:object builtins:dict subprocess:Popen
sklearn.linear_model._logistic:LogisticRegression sklearn.base:BaseEstimator
kernelcoding:KernelSparseCoder kernelcoding:persistence kernelcodings.coders:X kernelcoding
kernelcoding.kernels.names:as_kernel kernelcoding.kernels:Gaussian kernelcoding.kernels.vector:np
kernelcoding.kernels.base:clone kernelcoding.coders.sparse:KernelSparseCoder.fit
kernelcoding.cli:app kernelcoding.cli.models:CoderName kernelcoding.cli.data_files:LabelledSamples
kernelcoding.persistence:_Reader kernelcoding.persistence:ModelFileError
kernelcoding._compiled.active_members:Row kernelcoding.datasets.transfer:Transfer
kernelcoding.records.file:RecordFile kernelcoding.report.html_file:Path
kernelcoding.solvers.result:Status kernelcoding.kernels.spd:LinAlgError
kernelcoding.kernels..vector:Gaussian kernelcoding.kernels.nothing:Gaussian
kernelcoding.kernels.vector:Nothing
kernelcoding.kernels/../cli:app kernelcoding.:x :x .kernels:x os"""


@pytest.mark.parametrize("name", ["", *FOREIGN.split()])
def test_only_classes_of_models_are_made(name, forged):
    for tree in (
        {"class": name, "state": {}},
        {"record": [], "of": name},
        coder_of(kernel={"class": name, "state": {}}),
    ):
        refused(forge(forged, tree), "wants")


PYTHONS_OWN = """__class__ __dict__ __init__ __array_interface__ __array_struct__ __array__
__reduce__ __setstate__ __sklearn_tags__ __doc__"""
METHODS = "fit transform get_params set_params set_output _validate_params"


@pytest.mark.parametrize("name", [*PYTHONS_OWN.split(), *METHODS.split(), "a b", "", "1", "a.b"])
def test_only_plain_attributes_are_set(name, forged):
    for item in (3, {"dict": []}, coder_of(), {"tuple": []}):
        refused(forge(forged, coder_of(**{name: item})), "sets")


def test_properties_slots_and_caches_are_not_forged(forged):
    dictionary = "kernelcoding.dictionary:PointDictionary"
    for name in ("gram", "facts", "n_atoms"):
        state = {name: {"array": "a"}}
        tree = coder_of(dictionary_={"class": dictionary, "state": state})
        refused(forge(forged, tree, {"a": np.eye(2)}), f"sets '{name}'")
    groups = "kernelcoding.penalty:Groups"
    for state in ({}, {"labels": 1}, {"labels": 1, "weights": 2, "more": 3}, {"norms": 1}):
        refused(forge(forged, coder_of(groups={"class": groups, "state": state})), "damaged")
    sift = {"class": "kernelcoding.images.sift:DenseRootSIFT", "state": {"memory": "pickles"}}
    refused(forge(forged, sift), "sets 'memory'")


def test_memory_is_not_read_at_an_address_from_the_file(forged):
    """NumPy reads wherever ``__array_interface__`` of any object points to."""
    interface = {
        "dict": [
            ["data", {"tuple": [1, False]}],
            ["shape", {"tuple": [64]}],
            ["typestr", "|u1"],
            ["version", 3],
        ]
    }
    refused(forge(forged, coder_of(groups=coder_of(__array_interface__=interface))), "sets")


def test_sparse_indices_beyond_the_matrix_are_refused(forged):
    good = {"data": np.ones(2), "indices": np.array([0, 2]), "indptr": np.array([0, 1, 2])}
    tree = {"sparse": [{"array": name} for name in good], "as": "csr_array", "shape": [2, 3]}
    assert load(forge(forged, coder_of(groups=tree), good)).groups.toarray()[1, 2] == 1.0
    bad = {
        "indices": [np.array([0, 3]), np.array([-1, 0]), np.array([0]), np.array([0.0, 1.0])],
        "indptr": [np.array([0, 1]), np.array([0, 5, 2]), np.array([0, 1, 9]), np.array([1, 1, 2])],
        "data": [np.ones(1), np.array(["a", "b"]), np.ones((2, 2))],
    }
    for name, values in bad.items():
        for value in values:
            refused(forge(forged, coder_of(groups=tree), {**good, name: value}))
    for change in ({"as": "object"}, {"as": None}, {"shape": [2]}, {"shape": [2, "x"]}):
        refused(forge(forged, coder_of(groups={**tree, **change}), good))


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
    {"record": [], "of": "kernelcoding.kernels.pairs:Points"},
    {"record": [1], "of": "kernelcoding.coders.sparse:KernelSparseCoder"},
    {"record": [1]},
    {"class": None, "state": {}},
    {"class": "kernelcoding.gram:Spectrum", "state": {}},
    {"class": "kernelcoding.coders.sparse:KernelSparseCoder"},
    {"class": "kernelcoding.coders.sparse:KernelSparseCoder", "state": []},
    {"class": "kernelcoding.coders.sparse:KernelSparseCoder", "state": [["alpha", 1]]},
    {"class": "kernelcoding.coders.sparse:KernelSparseCoder", "state": "alpha"},
]


@pytest.mark.parametrize("tree", NONSENSE, ids=stable)
def test_nonsense_is_refused(tree, forged):
    refused(forge(forged, tree))
    refused(forge(forged, coder_of(groups=tree)))


@pytest.mark.parametrize("tree", [None, 3, "text", {"float": "1"}, {"list": []}], ids=stable)
def test_what_is_no_estimator_is_no_model(tree, forged):
    refused(forge(forged, tree), "damaged")
