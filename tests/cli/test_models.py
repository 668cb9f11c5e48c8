"""fit, encode and predict: codes and labels in files are those of the library."""

import csv

import numpy as np
import pytest
from scipy import sparse

import kernelcoding as kc
from helpers.commands import WORDS, X, Y, done, failed, invoke, noted, output, write_samples
from kernelcoding import persistence


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """Commands run in an empty folder: defaults of --out are written there."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def files(in_folder):
    return write_samples(in_folder)


CODERS = {
    "sparse": kc.KernelSparseCoder,
    "llc": kc.KernelLLC,
    "lcc": kc.KernelLCC,
    "words": kc.KernelBagOfWords,
    "pursuit": kc.KernelMatchingPursuit,
}


@pytest.mark.parametrize("name", CODERS)
def test_codes_are_those_of_the_library(name, files):
    fit = ["fit", "samples.csv", "--no-header", "--coder", name, "--gamma", "0.5"]
    said = done(*fit, "--n-jobs", "1")
    assert said.endswith(f"{CODERS[name].__name__} of 30 samples: model.kc\n")
    assert done("encode", "model.kc", "samples.npy") == "30 codes of 30 atoms: codes.npz\n"
    expected = CODERS[name](kernel=kc.kernels.Gaussian(gamma=0.5)).fit(X).transform(X)
    codes = sparse.load_npz("codes.npz")
    np.testing.assert_array_equal(codes.toarray(), expected)
    noted("encode", "model.kc", "named.csv", "--target", "kind", "--out", "new/folder/codes.NPY")
    np.testing.assert_array_equal(np.load("new/folder/codes.NPY"), expected)
    done("encode", "model.kc", "samples.csv", "--no-header", "--out", "codes.csv")
    np.testing.assert_allclose(np.loadtxt("codes.csv", delimiter=","), expected, rtol=1e-8)


def read_labels(path):
    with open(path, newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    assert names[:2] == ["row", "label"]
    assert [row[0] for row in rows] == [str(i) for i in range(1, len(rows) + 1)]
    return [row[1] for row in rows]


@pytest.mark.parametrize("name", CODERS)
def test_residual_labels_are_those_of_the_library(name, files):
    done("fit", "named.csv", "--target", "kind", "--coder", name)
    said = output("predict", "model.kc", "named.csv", "--target", "kind")
    library = kc.ResidualClassifier(CODERS[name](random_state=0)).fit(X, WORDS)
    expected = library.predict(X)
    assert read_labels("labels.csv") == expected.tolist()  # with their commas and quotes
    assert said == f"30 labels: labels.csv\nAccuracy: {100 * np.mean(expected == WORDS):.1f} %\n"
    output("predict", "model.kc", "data.npz", "--out", "labels.npz")
    with np.load("labels.npz", allow_pickle=False) as found:
        np.testing.assert_array_equal(found["labels"], expected)
        np.testing.assert_array_equal(found["scores"], library.decision_function(X))
    done("encode", "model.kc", "samples.npy")
    codes = sparse.load_npz("codes.npz").toarray()
    np.testing.assert_array_equal(codes, library.coder_.transform(X))


@pytest.mark.parametrize("name", ["auto", "linear", "bilinear", "max-margin"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_supervised_labels_are_those_of_the_library(name, files):
    invoke("fit", "table.npy", "--target", "-1", "--atoms", 6, "--classifier", name)
    classifier = "linear" if name == "auto" else name
    coder = kc.KernelSparseCoder(n_jobs=-1, random_state=0)
    library = kc.SupervisedKernelCoding(coder, n_atoms=6, classifier=classifier).fit(X, Y)
    output("predict", "model.kc", "samples.npy", "--out", "labels.npy")
    labels = np.load("labels.npy", allow_pickle=False)
    np.testing.assert_array_equal(labels, library.predict(X))
    assert labels.dtype.kind == "i"
    assert "of 6 atoms" in done("encode", "model.kc", "samples.npy")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_atoms_and_kernels_are_learned_where_asked(files):
    invoke("fit", "samples.npy", "--atoms", 5)
    model = persistence.load("model.kc")
    assert isinstance(model, kc.KernelDictionaryLearning)
    assert model.transform(X).shape == (30, 5)
    said = failed("predict", "model.kc", "samples.csv")
    assert "model.kc holds a KernelDictionaryLearning, which predicts no labels" in said
    for arguments, coder in (
        (["samples.npy"], lambda model: model),
        (["data.npz"], lambda model: model.coder),
        (["data.npz", "--atoms", 9, "--classifier", "residual"], lambda model: model.coder),
        (["samples.npy", "--atoms", 5], lambda model: model),
        (["data.npz", "--atoms", 5], lambda model: model),
    ):
        assert invoke("fit", *arguments, "--learn-kernel", "--force").exit_code == 0
        assert coder(persistence.load("model.kc")).learn_kernel is True, arguments


def test_several_labels_a_sample(in_folder):
    several = np.stack([Y == 0, Y > 0], axis=1).astype(int)
    np.savez("data.npz", X=X, y=several, one=Y)
    assert invoke("fit", "data.npz", "--atoms", 6).exit_code == 0
    assert "Accuracy" in done("predict", "model.kc", "data.npz")
    expected = persistence.load("model.kc").predict(X)
    table = np.loadtxt("labels.csv", delimiter=",", dtype=int, skiprows=1)
    np.testing.assert_array_equal(table[:, 1:], expected)
    said = failed("predict", "model.kc", "data.npz", "--target", "one", "--force")
    assert "must hold labels of shape (30, 2), got (30,)" in said


def test_labels_of_the_library_s_own_models_are_never_pickled(in_folder):
    model = kc.ResidualClassifier().fit(X, WORDS.astype(object))
    persistence.save(model, "model.kc")
    np.save("samples.npy", X)
    for name in ("labels.npy", "labels.npz", "labels.csv"):
        done("predict", "model.kc", "samples.npy", "--out", name)
    np.testing.assert_array_equal(np.load("labels.npy", allow_pickle=False), model.predict(X))
    with np.load("labels.npz", allow_pickle=False) as found:
        np.testing.assert_array_equal(found["labels"], model.predict(X))
    assert read_labels("labels.csv") == model.predict(X).tolist()
