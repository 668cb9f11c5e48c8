"""Estimators that have a coder, which is sparse coding where none is given."""

from __future__ import annotations

from typing import Any, Self, TypeVar, cast

from sklearn.base import BaseEstimator
from sklearn.utils import Tags, get_tags

from .sparse import KernelSparseCoder
from .transformer import CodingTransformer

AnyCoder = TypeVar("AnyCoder", bound=CodingTransformer)


def given_or_sparse(coder: AnyCoder | None) -> AnyCoder:
    """The coder; the default one where it is None."""
    return cast("AnyCoder", KernelSparseCoder()) if coder is None else coder


class CoderOwner(BaseEstimator):
    """Has a parameter `coder`, which may be None, and takes the samples that its coder takes."""

    coder: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``coder__alpha`` works for the coder that None stands for, too."""
        given = params.get("coder", self.coder)
        if given is None and any(name.startswith("coder__") for name in params):
            params = {**params, "coder": KernelSparseCoder()}
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        coder = given_or_sparse(self.coder)
        if hasattr(coder, "__sklearn_tags__"):  # anything else is reported by fit
            tags.input_tags = get_tags(coder).input_tags
        return tags
