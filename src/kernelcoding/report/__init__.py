"""Records in, one self-contained HTML page out, or tables of a text; only records are imported."""

from .filled import fill_tables
from .html_file import write_evaluation, write_report

__all__ = ["fill_tables", "write_evaluation", "write_report"]
