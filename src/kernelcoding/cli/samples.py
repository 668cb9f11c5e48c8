"""What a file of samples holds, whatever its form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class LabelledSamples:
    """What a file holds: samples, labels and names of features where there are any."""

    X: NDArray
    y: NDArray | None
    names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()  # sentences for the user

    def table(self) -> NDArray | pd.DataFrame:
        """The samples as estimators take them: with the names of their features, if known."""
        if self.names is None:
            return self.X
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                f"Columns with names need pandas: pip install 'kernelcoding[cli]' ({error})"
            ) from None
        return pd.DataFrame(self.X, columns=list(self.names), copy=False)

    def refuse_missing(self, path: Path) -> None:
        """Refuse samples with NaN or infinity, and say where the first is.

        Parameters
        ----------
        path : Path
            For the message.
        """
        if self.X.dtype.kind != "f" or np.isfinite(self.X).all():
            return
        row, *place = np.argwhere(~np.isfinite(self.X))[0].tolist()
        kind = "NaN" if np.isnan(self.X[(row, *place)]) else "infinity"
        name = self.names[place[0]] if self.names else ", ".join(map(str, place))
        raise ValueError(
            f"{path}: row {row + 1}, column {name!r} contains {kind}. Write a number, or leave the "
            "row out."
        )
