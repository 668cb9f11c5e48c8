"""How large models are for how many samples: what a search looks at, atoms and landmarks."""

from __future__ import annotations

from dataclasses import dataclass

# Rows that settings are searched on, and rows that the best of each kind are compared on.
SEARCHED = {"quick": 2000, "full": 5000}
COMPARED = {"quick": 8000, "full": 20_000}
MOST_ATOMS = 3000  # samples that are atoms of codes which need their Gram matrix
MOST_NEIGHBOR_ATOMS = 200_000  # of codes that look at neighbours alone
LANDMARKS = 1000  # of learned dictionaries, beyond as many samples
MAP_LANDMARKS, FEW_LANDMARKS = 1500, 500  # of plain coordinates, for many rows and for few
NEEDS_NO_GRAM = ("llc", "words")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of atoms and landmarks.

    Attributes
    ----------
    n_samples : int
        Rows there are.
    searched : int
        Rows that settings are searched on.
    compared : int
        Rows that the best of each kind are compared on, where there are more than are searched.
    """

    n_samples: int
    searched: int
    compared: int

    @classmethod
    def of(cls, n_samples: int, effort: str) -> Sizes:
        """Sizes for so many rows."""
        searched, compared = (min(n_samples, table[effort]) for table in (SEARCHED, COMPARED))
        return cls(n_samples, searched, compared)

    def kept_samples(self, coder: str, n_samples: int) -> int | None:
        """Samples that are atoms; None is all."""
        most = MOST_NEIGHBOR_ATOMS if coder in NEEDS_NO_GRAM else MOST_ATOMS
        return None if n_samples <= most else most

    def atoms(self, n_samples: int) -> int:
        """Atoms that are learned."""
        return max(1, min(n_samples // 2, 100 if n_samples < 5 * LANDMARKS else 200))

    def landmarks(self, n_samples: int) -> int | None:
        """Samples that span learned atoms; None is all."""
        return None if n_samples <= LANDMARKS else LANDMARKS

    def map_landmarks(self, n_samples: int) -> int:
        """Landmarks of plain coordinates."""
        return min(n_samples, MAP_LANDMARKS if n_samples > SEARCHED["quick"] else FEW_LANDMARKS)
