"""A text in Markdown whose tables are filled from records.

A comment before a table says what stands in it, another where it ends::

    <!-- records: yaleb
    table: 570 atoms
    -->
    <!-- end of records -->

Several lines ``table: NAME = HEADING`` stand side by side. The other lines, all optional:

* ``show: value, gain``: of value, error, paper, gain, nonzeros, seconds, memory;
* ``methods: kSC = sparse | kLLC``: the rows, in this order, perhaps under other names;
* ``sizes: 100, 200``: the numbers of atoms;
* ``corner: WORDS``: the first heading;
* ``turned: yes``: methods are columns.

What stands outside is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ..records import ResultGroup, Runs, read_runs, tables_of
from ..records.reading import RecordPath
from .markdown import QUANTITIES, Layout, Part, markdown_table, parts_of
from .whole_file import write_whole

END = "<!-- end of records -->"
BLOCK = re.compile(rf"(<!-- records:(.*?)-->\r?\n)(.*?)({re.escape(END)})", re.DOTALL)
OPTIONS = ("table", "show", "methods", "sizes", "corner", "turned")


def fill_tables(page: RecordPath, source: RecordPath | Iterable[RecordPath]) -> bool:
    """Fill the tables of a page from records.

    Parameters
    ----------
    page : path
        A text in Markdown; it is written anew where a table has changed.
    source : path, or several paths
        A folder with ``.jsonl`` files of records, one such file, or several.

    Returns
    -------
    changed : bool

    Raises
    ------
    ValueError
        If a comment asks for what the records do not have, or the page has none.

    Examples
    --------
    >>> from kernelcoding.report import fill_tables
    >>> fill_tables("page.md", "runs")  # doctest: +SKIP
    True
    """
    path = Path(page)
    text = path.read_bytes().decode("utf-8")  # with its own ends of lines
    new = filled(text, read_runs(source))
    if new != text:
        write_whole(new, path)
    return new != text


def filled(text: str, runs: Runs) -> str:
    """The text with the tables that its comments ask for.

    Parameters
    ----------
    text : str
    runs : Runs
    """
    begun, ended = text.count("<!-- records:"), len(BLOCK.findall(text))
    if not begun:
        raise ValueError(f"The page asks for no table: expected <!-- records: ... --> and {END}.")
    if begun != ended or ended != text.count(END):
        raise ValueError(
            f"Comments of tables do not match their ends: {begun} begin, {text.count(END)} end "
            f"with {END}."
        )
    return BLOCK.sub(lambda block: block[1] + _ordered_table(block[2], runs) + block[4], text)


def _ordered_table(order: str, runs: Runs) -> str:
    """The table that the lines of a comment ask for."""
    name, *lines = [line.strip() for line in order.strip().splitlines()]
    given: dict[str, list[str]] = {option: [] for option in OPTIONS}
    for line in filter(None, lines):
        option, _, words = line.partition(":")
        _one_of(option, given, f"The table of {name} has no option")
        given[option].append(words.strip())
    experiments = {each.name: each.results for each in runs.experiments}
    _one_of(name, experiments, "The records have no experiment")
    tables = tables_of(experiments[name])
    single = {option: words[-1] for option, words in given.items() if words}
    sizes = _sizes(name, single["sizes"]) if "sizes" in single else None
    parts = [part for words in given["table"] for part in _parts(name, words, tables, sizes)]
    if not parts:
        raise ValueError(f"The table of {name} names none of its tables: add table: NAME.")
    shown = [word.strip() for word in single["show"].split(",")] if "show" in single else None
    for word in shown or ():
        _one_of(word, QUANTITIES, f"The table of {name} cannot show")
    named = [_named(word) for word in single.get("methods", "").split("|") if word.strip()]
    methods = {method: words or method for method, words in named}
    for method in methods:
        _one_of(method, {m for part in parts for m in part.results}, f"{name} has no method")
    turned = single.get("turned", "no") == "yes"
    return markdown_table(parts, Layout(shown, methods, single.get("corner", ""), turned))


def _parts(
    name: str, words: str, tables: dict[str, list[ResultGroup]], sizes: list[float] | None
) -> list[Part]:
    table, heading = _named(words)
    _one_of(table, tables, f"{name} has no table")
    return parts_of(heading, tables[table], sizes)


def _sizes(name: str, words: str) -> list[float]:
    try:
        return [float(word) for word in words.split(",")]
    except ValueError:
        raise ValueError(
            f"The sizes of a table of {name} are numbers of atoms, as in 'sizes: 100, 200'; "
            f"got {words!r}."
        ) from None


def _named(words: str) -> tuple[str, str]:
    """``NAME = HEADING``; the heading may be absent."""
    name, _, heading = (part.strip() for part in words.partition(" = "))
    return name, heading


def _one_of(name: str, known: Iterable[str], problem: str) -> None:
    if name not in known:
        raise ValueError(f"{problem} {name!r}; there are {', '.join(sorted(known))}.")
