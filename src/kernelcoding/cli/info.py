"""info: what a model file says of itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from .. import persistence
from ..own_data.parts import coding_parts, features_of, steps_of
from ..own_data.preparing import Treated
from ..tables.columns import listed
from .console import console, friendly
from .options import Model
from .shown import columns_table, search_table

MOST_CLASSES = 12


@friendly
def info_command(model: Model) -> None:
    """Say what a model file holds: what, when, from which data, and how models compared.

    [dim]kernelcoding info model.kc[/]
    """
    about = persistence.about(model)
    fitted = persistence.load(model)
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, words in _facts(fitted, about):
        table.add_row(name, Text(words))
    console.print(table)
    columns = about.get("columns")
    if isinstance(columns, list) and columns:
        console.print(columns_table([Treated(**column) for column in columns]))
    search = about.get("search")
    if isinstance(search, dict):
        console.print(search_table(search))


def _facts(fitted: Any, about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    steps = steps_of(fitted)
    yield "model", " → ".join(type(step).__name__ for _, step in steps)
    settings = ", ".join(f"{name}={value}" for name, value in _chosen(steps[-1][1]).items())
    yield "settings", settings or "as by default"
    yield from _sizes(fitted)
    yield from _data(about)
    if "certificate" in about:
        yield "certificate", f"codes are within {about['certificate']} of their optimum"
    rejection = about.get("rejection")
    if isinstance(rejection, dict):
        told = f"{rejection['score']} below {rejection['threshold']}"
        yield "not known", f"{told}, as one in twenty samples that were left out"
    versions = about.get("versions") or {"kernelcoding": about.get("version")}
    yield "versions", ", ".join(f"{name} {value}" for name, value in versions.items())
    yield "file", f"format {about.get('format')}, written by kernelcoding {about.get('version')}"


def _chosen(step: Any) -> dict[str, Any]:
    """Settings that are not as by default; a model of scikit-learn has many that nobody chose."""
    defaults = inspect.signature(type(step)).parameters
    return {
        name: value
        for name, value in step.get_params(deep=False).items()
        if repr(value) != repr(defaults[name].default)
    }


def _sizes(fitted: Any) -> Iterator[tuple[str, str]]:
    parts = coding_parts(fitted)
    dictionary = None if parts is None else getattr(parts.coder, "dictionary_", None)
    if parts is not None and dictionary is not None:
        yield "atoms", f"{dictionary.n_atoms:,}"
        yield "kernel", repr(parts.coder.kernel_)
    features = features_of(fitted)
    if features.names is not None:
        yield "features", f"{len(features.names)}: {listed(features.names)}"
    elif features.count is not None:
        yield "features", f"{features.count}, without names"


def _data(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "created" not in about:
        yield "data", "not said: the file was not written by this command"
        return
    yield "fitted", f"{about['created']}, in {about.get('seconds')} s"
    yield "data", f"{', '.join(about.get('data', []))}: {about.get('samples'):,} samples"
    classes = about.get("classes")
    if isinstance(classes, dict):
        shown = [f"{name} ({count})" for name, count in list(classes.items())[:MOST_CLASSES]]
        more = about.get("n_classes", len(classes)) - len(shown)
        target = about.get("target")
        told = f"{target}: " if target else ""
        yield "classes", told + ", ".join(shown) + (f" and {more} more" if more > 0 else "")
