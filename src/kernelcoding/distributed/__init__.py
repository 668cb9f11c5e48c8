"""Samples that Dask holds in blocks: the one room that imports Dask, and only when it is used.

Fitted estimators take Dask input as they are; what is here goes with that.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import WorkersLost
    from .files import load, save
    from .foreign import apply
    from .warming import warm_up

__all__ = ["WorkersLost", "apply", "load", "save", "warm_up"]

_HOMES = {
    "WorkersLost": "errors",
    "apply": "foreign",
    "load": "files",
    "save": "files",
    "warm_up": "warming",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    except ModuleNotFoundError as missing:
        if missing.name not in ("dask", "distributed", "cloudpickle"):
            raise
        raise ImportError(
            f"kernelcoding.distributed.{name} needs {missing.name}: "
            "pip install 'kernelcoding[dask]'",
            name=missing.name,
        ) from missing


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
