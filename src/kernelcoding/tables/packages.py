"""pandas, which tables are read with, or a sentence on how to get it."""

from __future__ import annotations

from types import ModuleType


def required_pandas() -> ModuleType:
    """The package, when a table is read for the first time."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            f"Tables need pandas: pip install 'kernelcoding[cli]' ({error})"
        ) from None
    return pandas
