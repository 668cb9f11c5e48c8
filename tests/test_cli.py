"""The command line, the demo behind it, and what importing the package costs."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

import kernelcoding as kc
from kernelcoding.experiments import digits
from kernelcoding.experiments.records import Record
from kernelcoding.report.page import write_page

cli = pytest.importorskip("kernelcoding.cli")
testing = pytest.importorskip("typer.testing")

SMALL = {
    "sparse coding": kc.KernelSparseCoder(alpha=0.05),
    "bag of words <hard>": kc.KernelBagOfWords(assignment="hard"),
}


@pytest.fixture
def small_demo(monkeypatch):
    """Two methods on a hundred digits."""
    X, y = load_digits(return_X_y=True)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    monkeypatch.setattr(digits, "METHODS", SMALL)
    monkeypatch.setattr(digits, "load_split", lambda: (X[:100], X[100:160], y[:100], y[100:160]))


def invoke(*arguments):
    # A wide terminal: tables are not folded.
    return testing.CliRunner().invoke(cli.app, arguments, env={"COLUMNS": "200"})


def test_help_names_the_commands_and_options():
    assert "demo" in invoke("--help").output
    result = invoke("demo", "--help")
    assert result.exit_code == 0
    assert "--out" in result.output
    assert "--n-jobs" in result.output


def test_unknown_commands_fail():
    assert invoke("demonstrate").exit_code != 0
    assert invoke("demo", "--n-jobs", "many").exit_code != 0


def test_demo_prints_the_table_and_writes_the_report(small_demo, tmp_path):
    out = tmp_path / "new" / "folder" / "report.html"
    result = invoke("demo", "--out", str(out), "--n-jobs", "1")
    assert result.exit_code == 0, result.output
    for word in (*cli.COLUMNS, *SMALL, "linear", "Gaussian", "report.html"):
        assert word in result.output
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("<tr>") == 1 + 2 * len(SMALL)
    assert "bag of words &lt;hard&gt;" in page  # text is escaped
    assert "http" not in page  # self-contained
    assert "$" not in page


def test_the_demo_measures_what_it_says(small_demo):
    X, Q, y, labels = digits.load_split()
    records = list(digits.run(n_jobs=1))
    assert [(record.method, record.kernel) for record in records] == [
        (method, kernel) for method in SMALL for kernel in ("linear", "Gaussian")
    ]
    record = records[1]
    classifier = kc.ResidualClassifier(kc.KernelSparseCoder(alpha=0.05, kernel="rbf")).fit(X, y)
    codes = classifier.coder_.transform(Q)
    assert record.accuracy == classifier.score(Q, labels)
    assert record.nonzero == pytest.approx((codes != 0).sum(axis=1).mean())
    assert record.error == pytest.approx(classifier.coder_.reconstruction_error(Q).mean())
    assert record.gap == pytest.approx(classifier.coder_.certify(Q, codes).max(), abs=1e-12)
    assert 0 < record.seconds < 60
    assert all(0.5 < record.accuracy <= 1 for record in records)
    assert all(record.gap < 1e-6 for record in records)
    hard = records[2]
    assert hard.nonzero == 1.0
    assert not hasattr(SMALL["sparse coding"], "dictionary_")  # the list itself is not fitted


def test_the_demo_covers_every_coder_with_both_kernels():
    kinds = {type(coder) for coder in digits.METHODS.values()}
    assert kinds == {
        kc.KernelBagOfWords,
        kc.KernelSparseCoder,
        kc.KernelLLC,
        kc.KernelLCC,
        kc.KernelMatchingPursuit,
    }
    X, Q, y, labels = digits.load_split()
    assert len(X) + len(Q) == 1797
    assert abs(len(X) - len(Q)) <= 1
    assert not {row.tobytes() for row in X} & {row.tobytes() for row in Q}
    assert np.bincount(y).min() > 80
    assert np.bincount(labels).min() > 80
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)


def test_pages_hold_what_they_are_given(tmp_path):
    page = write_page(tmp_path / "p.html", "A & B", "text", ("a", "b"), [("1", "<2>")])
    text = page.read_text(encoding="utf-8")
    assert "<title>A &amp; B</title>" in text
    assert "<td>1</td><td>&lt;2&gt;</td>" in text


def test_records_are_frozen():
    record = Record("digits", "m", "k", 1.0, 1.0, 0.0, 0.0, 0.1)
    with pytest.raises(AttributeError):
        record.accuracy = 0.0


def modules_after(statement):
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return set(done.stdout.split())


def test_importing_the_package_is_cheap():
    loaded = modules_after("import kernelcoding")
    # scikit-learn loads pandas where it is installed; what counts is what we add to it.
    ours = loaded - modules_after("import sklearn.base, sklearn.metrics.pairwise")
    assert "kernelcoding.coders.sparse" in ours
    assert not loaded & {"numba", "matplotlib", "cv2"}
    assert not ours & {"pandas", "typer", "rich", "dask", "skimage"}


NAMES = """KernelSparseCoder KernelBagOfWords KernelLLC KernelLCC KernelMatchingPursuit KernelCoder
ResidualClassifier priors constraints kernels __version__"""
KERNEL_NAMES = """Linear Polynomial Gaussian Laplacian Sigmoid ChiSquared Precomputed View
Normalized HistogramIntersection LogEuclideanGaussian Stein Projection ProjectionGaussian
MultipleKernel"""


def test_public_names_are_there():
    for name in NAMES.split():
        assert hasattr(kc, name), name
        assert name in kc.__all__
    for name in KERNEL_NAMES.split():
        assert name in kc.kernels.__all__, name


def test_promised_calls_work_as_written():
    """The examples of the architecture page, on small data."""
    X, Q = np.random.default_rng(0).normal(size=(2, 20, 3))
    for coder in (
        kc.KernelSparseCoder(
            kernel="rbf",
            atoms=None,
            alpha=0.01,
            positive=False,
            groups=None,
            learn_kernel=False,
            sparse_output=False,
            tol=1e-6,
            n_jobs=None,
        ),
        kc.KernelBagOfWords(kernel="rbf", atoms=None, assignment="soft", sigma=1.0),
        kc.KernelLLC(
            kernel="rbf", atoms=None, n_neighbors=5, sigma=1.0, alpha=0.1, regularization=1e-4
        ),
        kc.KernelLCC(kernel="rbf", atoms=None, alpha=0.01),
        kc.KernelMatchingPursuit(kernel="rbf", atoms=None, n_nonzero=5, selection="omp"),
        kc.KernelCoder(
            kernel="rbf",
            atoms=None,
            prior=kc.priors.L1(),
            constraint=kc.constraints.Simplex(),
            alpha=0.01,
        ),
    ):
        codes = coder.fit(X).transform(Q)
        assert codes.shape == (20, 20)
        assert coder.dictionary_.gram.shape == (20, 20)
        assert coder.dictionary_.cross(Q).shape == (20, 20)
        assert coder.reconstruction_error(Q).shape == (20,)
        assert coder.certify(Q, codes).shape == (20,)
        assert coder.kernel_.gamma > 0
    kernel = 0.5 * kc.kernels.Gaussian() + kc.kernels.Linear() * kc.kernels.Polynomial(degree=2)
    assert kernel(X, Q).shape == (20, 20)
