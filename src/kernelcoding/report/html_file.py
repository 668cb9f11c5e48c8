"""The page as one file: template, style and script, and a policy that admits nothing else."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from types import ModuleType

from ..records import EvaluationRecord, read_runs
from ..records.reading import RecordPath
from .evaluation import EvaluationPage, evaluation_page
from .page import Page, page_of
from .whole_file import write_whole

# What no reader sees and some are led astray by: control characters but tabs and newlines, marks
# that turn the direction of a text around, and code points that are no characters.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")
PAGE_TITLE = "Kernel coding: our numbers beside the paper's"


def write_report(
    source: RecordPath | Iterable[RecordPath],
    out: str | os.PathLike[str] = "report.html",
    title: str = PAGE_TITLE,
) -> Path:
    """Write one self-contained HTML page from the records of experiments.

    Parameters
    ----------
    source : path, or several paths
        A folder with ``.jsonl`` files of records, one such file, or several.
    out : path, default="report.html"
        Where the page is written; folders are made as needed. The page appears whole or not at all.
    title : str
        Heading of the page.

    Returns
    -------
    path : Path
        Where the page is.

    Raises
    ------
    ValueError
        If there is no result to report.
    ImportError
        If jinja2 is not installed.

    Notes
    -----
    Values are means over splits, spreads sample standard deviations. A number is *better* or
    *below* when it differs from the paper's by more than the spread; with one split by more than
    its standard error, where the number of test samples is known, and than the last printed digit.
    The same records give the same page, byte by byte.

    Examples
    --------
    >>> from kernelcoding.report import write_report
    >>> write_report("runs", "report.html")  # doctest: +SKIP
    PosixPath('report.html')
    """
    return write_whole(rendered(page_of(read_runs(source), title), "report"), Path(out))


def write_evaluation(
    record: EvaluationRecord, out: str | os.PathLike[str] = "evaluation.html"
) -> Path:
    """Write one self-contained HTML page on how a model does on samples with known labels.

    Parameters
    ----------
    record : EvaluationRecord
    out : path, default="evaluation.html"
        Where the page is written, as in :func:`write_report`.

    Returns
    -------
    path : Path
        Where the page is.

    Examples
    --------
    >>> write_evaluation(record, "evaluation.html")  # doctest: +SKIP
    PosixPath('evaluation.html')
    """
    return write_whole(rendered(evaluation_page(record), "evaluation"), Path(out))


def rendered(page: Page | EvaluationPage, template_name: str) -> str:
    """The page's HTML. Everything in it is escaped but the pictures that we drew ourselves."""
    jinja2 = required_jinja2()
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = asset("report.css"), asset("report.js")
    template = environment.get_template(f"{template_name}.html.jinja")
    text = template.render(page=page, style=style, script=script, policy=policy(style, script))
    return CONTROLS.sub("", text)  # after all was escaped: nothing can be made of the rest


def policy(style: str, script: str) -> str:
    """A content security policy: our style, our script, images within the page, nothing else."""
    return "; ".join(
        (
            "default-src 'none'",
            "img-src data:",
            f"style-src '{fingerprint(style)}'",
            f"script-src '{fingerprint(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def fingerprint(text: str) -> str:
    """How a policy names an inline text."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def asset(name: str) -> str:
    """A file that comes with the package."""
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def required_jinja2() -> ModuleType:
    """The template engine, or a sentence on how to get it."""
    try:
        import jinja2
    except ModuleNotFoundError as missing:
        raise ImportError(
            "write_report needs jinja2, which is not installed: pip install 'kernelcoding[report]'"
        ) from missing
    return jinja2
