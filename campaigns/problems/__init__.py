"""Every prior with every constraint on every family of Gram matrices."""

from .campaign import Problems

__all__ = ["Problems"]
