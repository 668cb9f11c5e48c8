"""The site: `make docs` builds it, without a network; `docs/README.md` says how it is made."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "src"))

from kernelcoding import __version__  # noqa: E402

project = "kernelcoding"
author = "The kernelcoding developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["README.md", "_build", "figures", "howto/outside"]
nitpicky = True
# Attributes that are properties: numpydoc links them to pages that they do not have.
nitpick_ignore = [
    ("py:obj", name) for name in ("representatives_", "landmarks_", "landmark_indices_")
]

# Markdown pages stay readable in the repository: links to files, anchors of headings, $math$.
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Signatures are short; types and shapes are said once, in the docstring.
autodoc_typehints = "none"
autosummary_generate = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Names of other packages are looked up in vendored inventories: a build needs no network.
intersphinx_mapping = {
    "numpy": ("https://numpy.org/doc/stable/", "inventories/numpy.inv"),
    "scipy": ("https://docs.scipy.org/doc/scipy/", "inventories/scipy.inv"),
    "sklearn": ("https://scikit-learn.org/stable/", "inventories/sklearn.inv"),
}

# Formulas are drawn by a copy of MathJax that comes as a Python package.
MATHJAX = find_spec("sphinx-mathjax-offline")
if MATHJAX is None or MATHJAX.origin is None:
    raise RuntimeError("MathJax is not installed: pip install 'kernelcoding[docs]'")
html_static_path = ["_static", str(Path(MATHJAX.origin).parent / "static/mathjax/tex-svg.js")]
mathjax_path = "tex-svg.js"

html_theme = "pydata_sphinx_theme"
html_title = f"kernelcoding {version}"
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "github_url": "https://github.com/kernelcoding/kernelcoding",
    "external_links": [{"name": "Paper", "url": "https://arxiv.org/abs/1409.0084"}],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"index": [], "which-coder": []}
copyright = "The kernelcoding developers, BSD-3-Clause"

PARTS = ("coding", "learning", "labels", "data", "scale")
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "subsection_order": [f"../examples/{part}" for part in PARTS],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib",),
    "reference_url": {"kernelcoding": None},
    "backreferences_dir": "api/backreferences",
    "doc_module": ("kernelcoding",),
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "run_stale_examples": False,
    "min_reported_time": 10,
}
