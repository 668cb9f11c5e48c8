"""Experiments: declarative descriptions of what is run, and the runner that leaves records.

``run("digits")`` runs what is missing in ``runs/digits.jsonl``; ``REGISTRY`` names all experiments.
The files are read by :mod:`kernelcoding.records`.
"""

from .registry import REGISTRY, run

__all__ = ["REGISTRY", "run"]
