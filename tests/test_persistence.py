"""Model files: what is loaded is what was saved, and files from strangers can do no harm."""

import copy
import io
import json
import pickle
import subprocess
import sys
import warnings
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

import kernelcoding as kc
from kernelcoding import aggregation, images, persistence
from kernelcoding import kernels as ks
from kernelcoding.persistence import ModelFileError, load, save

X, Y = load_digits(return_X_y=True)
X, Q, Y = normalize(X[:60]), normalize(X[60:75]), Y[:60]
NAMES = np.array(["nil", "one, or so", 'the "two"'])[Y % 3]
FEW = {"max_iter": 3}


def several():
    """Labels of several kinds, none excluding another."""
    return np.stack([Y % 2 == 0, Y % 3 == 0, Y > 4], axis=1).astype(int)


def covariances(count, seed):
    parts = np.random.default_rng(seed).normal(size=(count, 3, 8))
    return parts @ parts.transpose(0, 2, 1) / 8


def sets(count, seed):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(12, 4)) for _ in range(count)]


def gram(A, B):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1))


def two_kernels():
    views = ks.View([*range(32)], ks.Gaussian()), ks.View([*range(32, 64)], ks.Linear())
    return ks.MultipleKernel(views)


def supervised(classifier, **changes):
    given = {"n_atoms": 9, **FEW, **changes}
    return kc.SupervisedKernelCoding(classifier=classifier, **given)


def learned(**changes):
    return kc.KernelDictionaryLearning(n_atoms=8, **{**FEW, **changes})


CODERS = {
    "sparse": kc.KernelSparseCoder(),
    "sparse output": kc.KernelSparseCoder(sparse_output=True),
    "positive": kc.KernelSparseCoder(positive=True, kernel="linear"),
    "groups": kc.KernelSparseCoder(groups=np.arange(60) % 6),
    "words": kc.KernelBagOfWords(),
    "local": kc.KernelLLC(),
    "coordinates": kc.KernelLCC(),
    "pursuit": kc.KernelMatchingPursuit(sparse_output=True),
    "general": kc.KernelCoder(prior=kc.priors.L1(), constraint=kc.constraints.Simplex()),
    "chosen atoms": kc.KernelSparseCoder(atoms=7, random_state=0),
    "own width": kc.KernelSparseCoder(learn_kernel=True),
    "settings": kc.KernelSparseCoder(learn_kernel=kc.KernelLearning(max_iter=2)),
    "algebra": kc.KernelLLC(kernel=0.5 * ks.Gaussian() + ks.Linear() * ks.Polynomial(degree=2)),
    "normalized": kc.KernelLLC(kernel=ks.Normalized(ks.ChiSquared(gamma=0.5))),
    "views": kc.KernelSparseCoder(kernel=two_kernels()),
}


def fitted():
    """Name -> (fitted model, samples to try it on)."""
    models = {name: (coder.fit(X), Q) for name, coder in CODERS.items()}
    single, other = X.astype(np.float32), Q.astype(np.float32)
    rows = [gram(X, X), gram(Q, X)]
    spd = covariances(30, 0), covariances(6, 1)
    on_digits = {
        "dictionary": learned(),
        "landmarks": learned(n_landmarks=20),
        "kernel weights": learned(
            coder=kc.KernelSparseCoder(kernel=two_kernels()), learn_kernel=True
        ),
        "linear": supervised("linear"),
        "bilinear": supervised("bilinear"),
        "margin": supervised("max-margin"),
        "lc-ksvd": kc.LabelConsistentKSVD(n_atoms=12, max_iter=2),
        "d-ksvd": kc.DiscriminativeKSVD(n_atoms=12, kernel="rbf", max_iter=2),
        "residual": kc.ResidualClassifier(kc.KernelLLC()),
    }
    models |= {name: (model.fit(X, NAMES), Q) for name, model in on_digits.items()}
    models |= {
        "object labels": (kc.ResidualClassifier().fit(X, NAMES.astype(object)), Q),
        "several labels": (supervised("linear").fit(X, several()), Q),
        "several bilinear": (supervised("bilinear").fit(X, several()), Q),
        "single precision": (kc.KernelSparseCoder().fit(single), other),
        "single learned": (learned().fit(single), other),
        "precomputed": (kc.KernelSparseCoder(kernel="precomputed").fit(rows[0]), rows[1]),
        "covariances": (kc.KernelLLC(kernel="log-euclidean").fit(spd[0]), spd[1]),
        "stein": (kc.KernelSparseCoder(kernel="stein").fit(spd[0]), spd[1]),
        "vlad": (aggregation.VLAD(n_words=3, random_state=0).fit(sets(5, 0)), sets(3, 1)),
        "kernel vlad": (
            aggregation.KernelVLAD(n_words=3, n_landmarks=8, random_state=0).fit(sets(5, 0)),
            sets(3, 1),
        ),
        "faces": (images.RandomFaces(n_components=5).fit(X.reshape(-1, 8, 8)), Q.reshape(-1, 8, 8)),
    }
    return models


ANSWERS = ("transform", "predict", "decision_function", "predict_proba", "reconstruction_error")


def answers(model, samples):
    """Everything a model can say about samples, as dense arrays."""
    found = {}
    for name in ANSWERS:
        if hasattr(model, name):
            said = getattr(model, name)(samples)
            found[name] = said.toarray() if sparse.issparse(said) else np.asarray(said)
    return found


ELSEWHERE = """
import pickle, sys
from pathlib import Path
from kernelcoding import persistence
from test_persistence import answers
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
    here = Path(__file__).parent
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


def there_and_back(model, tmp_path):
    save(model, tmp_path / "model")
    return load(tmp_path / "model")


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


def held(value, tmp_path):
    """A value as it comes back, in the place of a parameter."""
    return there_and_back(kc.KernelSparseCoder(groups=value), tmp_path).groups


VALUES = [
    *(None, True, 3, -(2**80), "word", "é\ud800", float("nan"), float("inf"), -0.0, 0.1, 5e-324),
    *(np.float32(0.1), np.float64(0.1), np.int8(-3), np.bool_(True), np.longdouble("0.1")),
    *(slice(1, None, 2), slice(np.int64(3)), (), [], {}, [[1], (2, [3.5])], {1: "a", "b": (None,)}),
    *(np.zeros((0, 3)), np.array(3.5), np.array(["a", "bc"]), np.arange(3, dtype=">i2")),
    np.array([(1, 2.5)], dtype=[("a", int), ("b", "f4")]),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_keep_their_kind_and_bits(value, tmp_path):
    again = held(value, tmp_path)
    assert type(again) is type(value)
    assert repr(again) == repr(value)
    if isinstance(value, (np.ndarray, np.generic)):
        assert again.dtype == value.dtype
        assert again.tobytes() == value.tobytes()


def test_arrays_keep_their_order_and_object_arrays_their_items(tmp_path):
    square = np.arange(12.0).reshape(3, 4)
    for array in (square, np.asfortranarray(square), square[:, ::2], square.T):
        again = held(array, tmp_path)
        np.testing.assert_array_equal(again, array)
        assert again.flags.f_contiguous == array.flags.f_contiguous
    for items in ([[1, 2], [3, 4]], ["word", np.float32(2)]):
        array = np.empty((2, 1), dtype=object)
        array[0, 0], array[1, 0] = items
        again = held(array, tmp_path)
        assert again.shape == (2, 1)
        assert again.dtype == object
        assert [type(item) for item in again[:, 0]] == [type(item) for item in items]
        assert again[:, 0].tolist() == items


@pytest.mark.parametrize("kind", persistence.SPARSE.values())
def test_sparse_matrices_keep_their_format(kind, tmp_path):
    matrix = kind(np.array([[0, 1.5, 0], [2.5, 0, 0]], dtype=np.float32))
    again = held(matrix, tmp_path)
    assert type(again) is kind
    assert again.dtype == np.float32
    np.testing.assert_array_equal(again.toarray(), matrix.toarray())
    others = held(sparse.coo_array(matrix), tmp_path)
    np.testing.assert_array_equal(others.toarray(), matrix.toarray())


def test_shared_objects_stay_shared_and_circles_closed(tmp_path):
    array, circle = np.arange(3), []
    circle.append({"circle": circle, "array": array})
    coder = kc.KernelSparseCoder(groups=[array, array, circle, {"self": None}])
    coder.groups[3]["self"] = coder
    again = there_and_back(coder, tmp_path)
    first, second, circle, owner = again.groups
    assert first is second
    assert first is circle[0]["array"]
    assert circle[0]["circle"] is circle
    assert owner["self"] is again


def test_what_is_kept_to_save_time_is_not_written(models, tmp_path):
    model, _ = models["sparse"]
    assert "facts" in vars(model.dictionary_)
    again = there_and_back(model, tmp_path)
    assert "facts" not in vars(again.dictionary_)
    assert again.dictionary_.gram is again.dictionary_.gram_before_clipping


class Mine(kc.KernelSparseCoder):
    """A user's own class."""


UNSAVABLE = {
    r"model\.kernel is a builtins\.function": kc.KernelSparseCoder(kernel=lambda A, B: A @ B.T),
    r"model\.callback is a builtins\.function": learned(callback=lambda progress: None),
    r"model\.random_state is a .*RandomState": learned(random_state=np.random.RandomState(0)),
    r"model\.coder\.kernel\.kernels\[1\]\.gamma is a builtins\.complex": kc.ResidualClassifier(
        kc.KernelLLC(kernel=ks.MultipleKernel([ks.Linear(), ks.Gaussian(gamma=1j)]))
    ),
    r"model is a sklearn\..*LogisticRegression": LogisticRegression(),
    r"model\.coder is a sklearn\..*LogisticRegression": kc.ResidualClassifier(LogisticRegression()),
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


# ---------------------------------------------------------------------------- files from strangers


def contents(path):
    """Arrays and description of a model file."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    return arrays, json.loads(str(arrays.pop("description")))


def write(path, text, arrays):
    with path.open("wb") as file:
        np.savez(file, **arrays, description=np.array(text))
    return path


def forge(path, tree, arrays=(), **changes):
    """A file that says what it likes."""
    text = json.dumps({"format": persistence.FORMAT, "version": "0", "model": tree, **changes})
    return write(path, text, dict(arrays))


def coder_of(**state):
    return {"class": "kernelcoding.coders.sparse:KernelSparseCoder", "state": state}


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A small file with every kind of part."""
    path = tmp_path_factory.mktemp("honest") / "model.kc"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = supervised("bilinear", n_atoms=4, max_iter=1).fit(X[:12, 8:14], NAMES[:12])
    save(model, path)
    return path


@pytest.fixture
def forged(tmp_path):
    return tmp_path / "forged.kc"


def refused(path, match=None):
    with pytest.raises(ModelFileError, match=match) as caught:
        load(path)
    assert str(path) in str(caught.value)


class Bomb:
    """Runs code when it is unpickled."""

    exploded = False

    def __reduce__(self):
        return exec, ("from test_persistence import Bomb; Bomb.exploded = True",)


def pickled_array(value):
    file = io.BytesIO()
    np.save(file, np.array([value], dtype=object), allow_pickle=True)
    return file.getvalue()


def test_files_of_another_kind_are_refused(honest, forged):
    whole = honest.read_bytes()
    bare = io.BytesIO()
    np.save(bare, np.arange(3))
    others = [b"", b"PK", b"not a model", bare.getvalue(), pickle.dumps(Bomb()), whole[1:]]
    others += [whole[: len(whole) * part // 7] for part in range(7)]
    for content in others:
        forged.write_bytes(content)
        refused(forged, "is not a model file of kernelcoding")
    assert not Bomb.exploded


def test_archives_with_other_members_are_refused(honest, forged):
    arrays, description = contents(honest)
    tree = description["model"]
    pickled = pickled_array(Bomb())
    for name, content in (
        ("description.npy", pickled),
        ("description.npy", b"text"),
        ("other.txt", b"x"),
        ("array_0.npy", pickled),
    ):
        with zipfile.ZipFile(forged, "w") as archive:
            archive.writestr(name, content)
        refused(forged, "is not a model file")
    refused(forge(forged, tree, {**arrays, "extra": np.arange(3)}), "damaged")
    one_less = dict(list(arrays.items())[1:])
    refused(forge(forged, tree, one_less), "is not a model file")
    with zipfile.ZipFile(forge(forged, tree, one_less), "a") as archive:
        archive.writestr(next(iter(arrays)) + ".npy", pickled)
    refused(forged, "is not a model file")
    with zipfile.ZipFile(forge(forged, tree, one_less), "a") as archive:
        archive.writestr(next(iter(arrays)), b"raw bytes")
    refused(forged, "damaged")
    assert not Bomb.exploded


def test_formats_of_the_future_are_named(forged):
    refused(
        forge(forged, coder_of(), format=2, version="9.1"),
        r"format 2, written by kernelcoding 9\.1; this version reads format 1",
    )
    for version in (0, None, "1", [1], 1.5):
        refused(forge(forged, coder_of(), format=version))


def test_huge_declared_arrays_are_refused(forged):
    for shape in ((10**15,), (10**30,), (2**40, 2**40), (-1,), (10**9, 0, 10**9)):
        header = {"descr": "<f8", "fortran_order": False, "shape": shape}
        file = io.BytesIO()
        np.lib.format.write_array_header_1_0(file, header)
        forge(forged, coder_of(groups={"array": "big"}))
        with zipfile.ZipFile(forged, "a") as archive:
            archive.writestr("big.npy", file.getvalue() + b"12345678")
        if 0 in shape:
            assert load(forged).groups.size == 0
        else:
            refused(forged, "is not a model file")


FOREIGN = """os:system posix:system builtins:eval builtins:object builtins:dict subprocess:Popen
sklearn.linear_model._logistic:LogisticRegression sklearn.base:BaseEstimator
kernelcoding:KernelSparseCoder kernelcoding:persistence kernelcodings.coders:X kernelcoding
kernelcoding.kernels.names:as_kernel kernelcoding.kernels:Gaussian kernelcoding.kernels.vector:np
kernelcoding.kernels.base:clone kernelcoding.coders.sparse:KernelSparseCoder.fit
kernelcoding.cli:app kernelcoding.cli.models:Coder kernelcoding.cli.tables:Samples
kernelcoding.persistence:_Reader kernelcoding.persistence:ModelFileError
kernelcoding._compiled.active_members:Row kernelcoding.datasets.transfer:Transfer
kernelcoding.experiments.records:Record kernelcoding.report.page:Path
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


def test_rooms_that_no_model_is_made_of_are_not_even_imported(elsewhere):
    message, imported = elsewhere["forged"]
    assert "kernelcoding.cli:app" in message
    assert not imported


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


@pytest.mark.parametrize("tree", NONSENSE, ids=str)
def test_nonsense_is_refused(tree, forged):
    refused(forge(forged, tree))
    refused(forge(forged, coder_of(groups=tree)))


@pytest.mark.parametrize("tree", [None, 3, "text", {"float": "1"}, {"list": []}], ids=str)
def test_what_is_no_estimator_is_no_model(tree, forged):
    refused(forge(forged, tree), "damaged")


def test_very_deep_descriptions_are_refused(forged):
    for start, end in (('{"list":[', "]}"), ("[", "]")):
        text = start * 200_000 + end * 200_000
        text = '{"format": 1, "model": ' + text + "}"
        refused(write(forged, text, {}), "is not a model file")


# Anything JSON, with the words that mean something.
WORDS = st.sampled_from(
    [*persistence.MAKERS, "same", "float", "number", "state", "of", "as", "shape", "array_0"]
) | st.text(max_size=3)
LEAVES = st.none() | st.booleans() | st.integers(-2, 12) | st.floats() | WORDS
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
FUZZ = settings(
    max_examples=80,
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
    path = forge(tmp_path / "random", tree, {"array_0": np.eye(2)})
    assert survives(path)
    assert survives(forge(path, coder_of(groups=tree), {"array_0": np.eye(2)}))


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
