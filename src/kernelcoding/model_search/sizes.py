"""How large models are for how many samples: what a search looks at, atoms and landmarks."""

from __future__ import annotations

from dataclasses import dataclass

# Rows that settings are searched on, and rows that the best of each kind are compared on.
SEARCHED = {"quick": 2000, "full": 5000}
COMPARED = {"quick": 8000, "full": 20_000}
MOST_ATOMS = 3000  # samples that are atoms of codes which need their Gram matrix
MOST_NEIGHBOR_ATOMS = 200_000  # of codes that look at neighbours alone
LANDMARKS = 1000  # of learned dictionaries, beyond as many samples
# Landmarks of plain coordinates, by the number of rows from which there are so many; fewer where
# the coordinates of all rows would take more than 1.4 GB, but never less than the first.
MAP_LANDMARKS = {0: 500, 2001: 1500, 20_001: 3000}
MOST_COORDINATES = 180_000_000
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
        wanted = max(count for rows, count in MAP_LANDMARKS.items() if n_samples >= rows)
        held = max(MAP_LANDMARKS[0], MOST_COORDINATES // max(n_samples, 1))
        return min(n_samples, wanted, held)
