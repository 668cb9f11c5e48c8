"""Records in, one self-contained HTML page out; nothing but records is imported here."""

from .html_file import write_evaluation, write_report

__all__ = ["write_evaluation", "write_report"]
