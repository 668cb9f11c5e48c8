"""Packages of the ``images`` extra, imported by the functions that need them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def optional(name: str) -> ModuleType:
    """Import a module of the ``images`` extra, or say how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(
            f"kernelcoding.images needs the package {package}, which is not installed: "
            'pip install "kernelcoding[images]".'
        ) from error
