"""The folder of one form of a data set, downloaded if need be: what every fetcher asks for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from .download import download
from .home import resolve_home
from .layout import instructions, locate
from .registry import REGISTRY

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class DataSource:
    """Where a fetcher looks, and what it may do if the set is not there."""

    data_home: PathLike | None = None
    download_if_missing: bool = True
    n_retries: int = 3
    delay: float = 1.0

    def folder(self, name: str, form: str) -> Path:
        """Folder of one form of a set, downloaded first if need be.

        Raises
        ------
        FileNotFoundError
            If it is not there and cannot or may not be downloaded, with instructions.
        """
        info, home = REGISTRY[name], resolve_home(self.data_home)
        found = locate(info, form, home)
        if found is not None:
            return found
        if not info.forms[form].remotes or not self.download_if_missing:
            why = (
                "download_if_missing is False"
                if info.forms[form].remotes
                else "it cannot be downloaded automatically"
            )
            raise FileNotFoundError(
                f"{info.title} ({form}) was not found in {home}, and {why}.\n"
                f"{instructions(info, form, home)}"
            )
        download(info, form, home, self.n_retries, self.delay)
        found = locate(info, form, home)
        assert found is not None  # download() has looked
        return found


def description(name: str) -> str:
    """Text for ``DESCR``: source, terms, citation, protocol."""
    return resources.files(__package__).joinpath(f"descriptions/{name}.md").read_text("utf-8")
