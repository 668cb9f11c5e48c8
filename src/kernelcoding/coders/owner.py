"""Estimators that have a coder, which is sparse coding where none is given."""

from __future__ import annotations

from typing import Any, Self, TypeVar, cast

from sklearn.base import BaseEstimator

from .sparse import KernelSparseCoder
from .transformer import CodingTransformer

AnyCoder = TypeVar("AnyCoder", bound=CodingTransformer)


def given_or_sparse(coder: AnyCoder | None) -> AnyCoder:
    """The coder; the default one where it is None."""
    return cast("AnyCoder", KernelSparseCoder()) if coder is None else coder


class CoderOwner(BaseEstimator):
    """Has a parameter `coder`, which may be None."""

    coder: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``coder__alpha`` works for the coder that None stands for, too."""
        given = params.get("coder", self.coder)
        if given is None and any(name.startswith("coder__") for name in params):
            params = {**params, "coder": KernelSparseCoder()}
        return super().set_params(**params)
