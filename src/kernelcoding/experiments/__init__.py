"""Experiments: declarative descriptions of what is run, and the records they leave.

``run("digits")`` runs what is missing in ``runs/digits.jsonl``; ``REGISTRY`` names all experiments.
"""

from .records import read_records
from .registry import REGISTRY, run
from .summary import Row, summarize

__all__ = ["REGISTRY", "Row", "read_records", "run", "summarize"]
