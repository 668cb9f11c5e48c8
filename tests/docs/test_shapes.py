"""Docstrings of public names list every parameter, and say what shape every array has."""

from __future__ import annotations

import inspect
import re
import warnings

import pytest

from helpers.public_names import PUBLIC

numpydoc = pytest.importorskip("numpydoc.docscrape", reason="docstrings need the extra 'docs'")

SECTIONS = ("Parameters", "Attributes", "Returns")
SHAPE = re.compile(
    r"shape \(|\(\w+,( [\w.]+(\[, \d\])?,?)*\)"
)  # "of shape (n, d)", "(n,)", "(h, w[, 3])"
ARRAY = re.compile(r"^(dense )?(nd)?array(-like)?\b|^(CSR|sparse) (array|matrix)")
METHODS = (
    "fit",
    "fit_predict",
    "fit_transform",
    "partial_fit",
    "transform",
    "predict",
    "predict_proba",
    "decision_function",
    "score_samples",
    "score",
    "certify",
    "reconstruction_error",
    "concentration",
)


def sections(text: str) -> list[tuple[str, str, str]]:
    """Section, name and type (with its text) of everything that a docstring lists."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = numpydoc.NumpyDocString(text)
    return [
        (section, entry.name, " ".join([entry.type, *entry.desc]))
        for section in SECTIONS
        for entry in parsed[section]
    ]


def documented() -> list[tuple[str, str]]:
    """Name and docstring of public classes, functions, and our methods of estimators."""
    found = []
    for _, name, value in PUBLIC:
        if not callable(value):
            continue
        found.append((name, inspect.getdoc(value) or ""))
        if inspect.isclass(value) and hasattr(value, "fit"):
            methods = ((method, getattr(value, method, None)) for method in METHODS)
            found += [
                (f"{name}.{method}", inspect.getdoc(function) or "")
                for method, function in methods
                if getattr(inspect.unwrap(function), "__module__", "").startswith("kernelcoding")
            ]
    return found


DOCUMENTED = documented()


@pytest.mark.parametrize(("name", "text"), DOCUMENTED, ids=[name for name, _ in DOCUMENTED])
def test_arrays_have_shapes(name, text):
    without = [
        f"{section}: {entry} : {kind}"
        for section, entry, kind in sections(text)
        if ARRAY.match(kind) and not SHAPE.search(kind)
    ]
    assert not without


METHODS_OF_SAMPLES = [(name, text) for name, text in DOCUMENTED if "." in name]


@pytest.mark.parametrize(
    ("name", "text"), METHODS_OF_SAMPLES, ids=[name for name, _ in METHODS_OF_SAMPLES]
)
def test_methods_of_estimators_say_what_they_take_and_return(name, text):
    listed = sections(text)
    samples = [kind for section, entry, kind in listed if (section, entry) == ("Parameters", "X")]
    assert samples, f"{name} does not say what X is"
    assert SHAPE.search(samples[0]), f"{name} does not say the shape of X"
    assert any(section == "Returns" for section, _, _ in listed), (
        f"{name} does not say what it returns"
    )


TAKING = [
    (name, value)
    for _, name, value in PUBLIC
    if inspect.isfunction(value) or hasattr(value, "get_params")
]


@pytest.mark.parametrize(("name", "value"), TAKING, ids=[name for name, _ in TAKING])
def test_every_parameter_is_listed(name, value):
    listed = {
        one.strip("*` ")
        for section, entry, _ in sections(inspect.getdoc(value) or "")
        if section == "Parameters"
        for one in entry.split(",")
    }
    assert not set(inspect.signature(value).parameters) - listed
