"""What notebooks show of kernels, dictionaries and certificates."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import kernelcoding as kc
from kernelcoding.displays import AtomsCurveDisplay, CertificateDisplay
from kernelcoding.kernels import Gaussian, Linear, MultipleKernel, Polynomial, View

X, y = load_digits(return_X_y=True)
X = X / 16


@pytest.fixture(autouse=True)
def _no_windows():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


def test_a_composite_kernel_is_a_tree():
    html = (0.5 * Gaussian(gamma=2.0) + Linear() * Polynomial(degree=2))._repr_html_()
    names = re.findall(r"<b>(\w+)</b>", html)
    assert names == ["Sum", "Scaled", "Gaussian", "Product", "Linear", "Polynomial"]
    assert html.count("<ul") == html.count("</ul>") == 3
    assert "scale=0.5" in html
    assert "gamma=2" in html


def test_weights_of_a_multiple_kernel_are_those_in_use():
    kernel = MultipleKernel([Gaussian(), View(["a", "b"], Linear())], weights=[0.25, 0.75])
    assert re.findall(r"</span> (\S+) &times;", kernel._repr_html_()) == ["0.25", "0.75"]
    assert re.findall(r"width: (\d+)px", kernel._repr_html_()) == ["27", "80"]
    kernel.weights_ = np.array([1.0, 0.0])
    assert re.findall(r"</span> (\S+) &times;", kernel._repr_html_()) == ["1", "0"]


def test_what_a_kernel_holds_is_escaped():
    assert "<i>" not in View("<i>", Linear())._repr_html_()
    bundle = Gaussian()._repr_mimebundle_()
    assert bundle["text/plain"] == repr(Gaussian())
    assert bundle["text/html"] == Gaussian()._repr_html_()


def test_dictionaries_print_what_they_are():
    points = kc.KernelSparseCoder(Gaussian(0.1)).fit(X[:30]).dictionary_
    assert repr(points) == "PointDictionary(30 atoms, kernel=Gaussian(gamma=0.1))"
    learner = kc.KernelDictionaryLearning(
        kc.KernelSparseCoder(Gaussian(0.1)), n_atoms=5, max_iter=1
    )
    combined = learner.fit(X[:30]).dictionary_
    assert repr(combined).startswith("CombinationDictionary(5 atoms, of 30 landmarks, kernel=")
    assert "5 atoms; of 30 landmarks" in combined._repr_html_()


def test_certificates_are_shares_of_the_sample():
    coder = kc.KernelSparseCoder(3.0 * Gaussian(0.1), alpha=0.05).fit(X[:50])
    display = CertificateDisplay.from_estimator(coder, X[50:80])
    assert_allclose(display.shares, coder.certify(X[50:80], coder.transform(X[50:80])) / 3.0)
    assert sum(bar.get_height() for bar in display.bars_) == 30
    unknown = CertificateDisplay(np.array([1e-8, np.inf])).plot()
    assert unknown.n_unknown_ == 1
    assert "1 unknown" in unknown.ax_.get_title()


def test_a_curve_over_numbers_of_atoms_comes_from_folds():
    model = make_pipeline(
        kc.KernelDictionaryLearning(n_landmarks=40, max_iter=1), LogisticRegression(max_iter=500)
    )
    display = AtomsCurveDisplay.from_estimator(model, X[:120], y[:120], sizes=[3, 12], cv=2)
    assert display.values["Pipeline"].shape == (2, 2)
    few, many = display.lines_["Pipeline"].get_ydata()
    assert many > few
    model.set_params(kerneldictionarylearning__n_atoms=12)
    assert_allclose(many, 100 * cross_val_score(model, X[:120], y[:120], cv=2).mean())


def test_an_estimator_without_atoms_is_refused():
    with pytest.raises(ValueError, match="no parameter n_atoms or atoms"):
        AtomsCurveDisplay.from_estimator(LogisticRegression(), X, y, sizes=[3])


def test_certificates_are_a_table_of_what_is_known():
    html = CertificateDisplay(np.array([1e-9, 4e-7, 3e-9, np.inf]))._repr_html_()
    assert re.findall("<td>(.*?)</td>", html) == ["4", "1", "3e-09", "4e-07"]
    html = CertificateDisplay(np.array([np.inf, np.inf]))._repr_html_()
    assert re.findall("<td>(.*?)</td>", html) == ["2", "2"]
