"""The site builds without a warning, and has a page for every public name."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.public_names import MODULES, PUBLIC

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BUILT = ("_build", "auto_examples", "generated", "backreferences", "sg_execution_times.rst")


def named(value):
    """The same in every process: objects would show their place in memory."""
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize(("module", "name", "_"), PUBLIC, ids=named)
def test_every_public_name_is_listed(module, name, _):
    page = (DOCS / "api" / f"{MODULES[module]}.rst").read_text()
    short = name if MODULES[module] != "building" else f"{module.split('.')[1]}.{name}"
    assert re.search(rf"^   {re.escape(short)}$", page, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [entry for entry in PUBLIC if callable(entry[2])],
    ids=named,
)
def test_every_public_name_has_an_example(module, name, value):
    if inspect.isclass(value) and issubclass(value, Exception):
        pytest.skip("an exception")
    if name == "Prior":
        pytest.skip("a base without a value of its own; every prior has an example")
    text = inspect.getdoc(value) or ""
    assert ">>>" in text, f"{module}.{name} has no example"


def test_coders_kernels_and_priors_have_formulas():
    given = {"CallableKernel", "CustomPrior", "Fixed", "Precomputed", "View", "as_kernel", "take"}
    rooms = ("kernelcoding.kernels", "kernelcoding.priors", "kernelcoding.constraints")
    parts = [(n, v) for m, n, v in PUBLIC if m in rooms and n not in given]
    coders = [(n, v) for m, n, v in PUBLIC if m == "kernelcoding" and hasattr(v, "fit")]
    without = [
        n for n, v in parts + coders if ":math:" not in v.__doc__ and "math::" not in v.__doc__
    ]
    assert not without


def test_links_of_the_chart_lead_to_pages():
    links = re.findall(r'href="([^"]*)"', (DOCS / "figures" / "which-coder.svg").read_text())
    names = {f"api/generated/{module}.{name}.html" for module, name, _ in PUBLIC}
    pages = {f"{page.stem}.html" for page in DOCS.glob("*.md")}
    assert len(links) == 6
    assert set(links) <= names | pages


def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx", reason="the site needs the extra 'docs'")
    pytest.importorskip("sphinx_gallery", reason="the site needs the extra 'docs'")
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns(*BUILT))
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    for name in ("src", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    quick = ROOT / "tests" / "helpers" / "quick_sphinx.py"
    command = [sys.executable, str(quick), "-q", "-W", "--keep-going", "-b", "dummy"]
    command += ["-D", "plot_gallery=0", "docs", "out"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    built = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    pages = {page.stem for page in (tmp_path / "docs" / "api" / "generated").iterdir()}
    assert {f"{module}.{name}" for module, name, _ in PUBLIC} <= pages
