"""Records in, one self-contained page out; beyond means and spreads nothing is computed here."""

from .writing import write_report

__all__ = ["write_report"]
