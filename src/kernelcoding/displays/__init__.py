"""Figures for notebooks, in the style of scikit-learn's displays; they need matplotlib."""

from .atoms_curve import AtomsCurveDisplay
from .certificate import CertificateDisplay
from .code import CodeDisplay
from .dictionary import DictionaryDisplay
from .history import HistoryDisplay

__all__ = [
    "AtomsCurveDisplay",
    "CertificateDisplay",
    "CodeDisplay",
    "DictionaryDisplay",
    "HistoryDisplay",
]
