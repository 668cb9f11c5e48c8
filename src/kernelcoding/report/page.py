"""A table of records as one HTML page without outside files."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>$title</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .35rem .75rem; text-align: right; border-bottom: 1px solid #ddd; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
td { font-variant-numeric: tabular-nums; }
</style></head><body>
<h1>$title</h1>
<p>$text</p>
<table><thead><tr>$head</tr></thead><tbody>
$rows
</tbody></table>
</body></html>
""")


def write_page(
    path: Path, title: str, text: str, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> Path:
    """Write the page, with the folders it needs, and return where it is."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    page = PAGE.substitute(title=escape(title), text=escape(text), head=head, rows=body)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return path
