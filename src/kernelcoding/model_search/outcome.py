"""What a search found: the table, the model that was kept, and what a user should know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sklearn.base import ClassifierMixin

from .candidates import Candidate
from .judging import Row
from .peers import MAJORITY
from .sizes import Sizes

OPTIONS = {"gamma": "--gamma", "alpha": "--alpha", "neighbors": "--neighbors"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a search.

    Attributes
    ----------
    rows : tuple of Row
        The best of every kind of model.
    peers : tuple of Row
    best : int
        Which row was kept: the best, or a simpler one that folds cannot tell from it.
    effort : str
    n_searched, n_folds : int
        Rows and folds that settings were chosen by.
    n_compared : int
        Rows that the best kinds were compared on, where that was done on more; else 0.
    build : callable
        The number of training samples to the model that was kept.
    """

    rows: tuple[Row, ...]
    peers: tuple[Row, ...]
    best: int
    effort: str
    n_searched: int
    n_folds: int
    n_compared: int
    build: Callable[[int], ClassifierMixin]
    kind: Candidate
    sizes: Sizes

    @property
    def kept(self) -> Row:
        """The row that was kept."""
        return self.rows[self.best]

    def verdict(self) -> str:
        """Which was kept, and how far it is from the peers."""
        told = []
        for peer in self.peers:
            if peer.trial.scores:
                gap = 100 * (self.kept.trial.mean - peer.trial.mean)
                side = "above" if gap >= 0 else "below"
                told.append(f"{abs(gap):.1f} points {side} {peer.name}")
        settings = ", ".join(f"{name} {value}" for name, value in self.kept.settings.items())
        best = max(self.rows, key=lambda row: row.trial.mean)
        why = ""
        if best.trial.mean > self.kept.trial.mean:
            why = f", simpler than {best.name} and within one standard error of it"
        return f"Kept: {self.kept.name} ({settings or 'no settings'}){why}; {', '.join(told)}."

    def warnings(self) -> list[str]:
        """What is to be looked at: edges of the grid, and models no better than no model."""
        said = []
        for name in self.kept.at_edge:
            value = self.kept.settings[name]
            option = OPTIONS.get(name)
            what = f"{option} tries others" if option else "no option tries others"
            said.append(
                f"The best {name}, {value}, is the last of those tried: better ones may lie "
                f"beyond; {what}."
            )
        majority = next((row for row in self.peers if row.name == MAJORITY), None)
        if majority is not None and self.kept.trial.mean <= majority.trial.mean:
            said.append(
                "The model is no better than always naming the largest class: these columns "
                "hardly tell the labels apart."
            )
        return said

    def size_notes(self, n_samples: int) -> list[str]:
        """What was chosen because there are many rows."""
        said = []
        if n_samples > self.n_searched:
            more = f", kinds of models compared on {self.n_compared:,}" if self.n_compared else ""
            said.append(
                f"{n_samples:,} rows: settings were chosen on {self.n_searched:,} of them{more}; "
                "the model learns from all."
            )
        model = self.build(n_samples)
        parts = [model, getattr(model, "coder", None), *getattr(model, "named_steps", {}).values()]
        for part in parts:
            for name in ("atoms", "n_landmarks"):
                count = getattr(part, name, None)
                if isinstance(count, int) and count < n_samples and name == "n_landmarks":
                    said.append(f"{count:,} rows are landmarks; --landmarks takes another number.")
                elif isinstance(count, int) and count < n_samples:
                    said.append(f"{count:,} rows are atoms; --landmarks takes another number.")
        return said

    def as_json(self) -> dict:
        """The table as numbers and words."""
        return {
            "effort": self.effort,
            "rows_searched": self.n_searched,
            "folds": self.n_folds,
            "rows_compared": self.n_compared,
            "kept": self.kept.name,
            "table": [_row_as_json(row) for row in (*self.rows, *self.peers)],
        }


def _row_as_json(row: Row) -> dict:
    scores = [round(100 * score, 3) for score in row.trial.scores]
    return {
        "model": row.name,
        "settings": dict(row.settings),
        "accuracy": round(100 * row.trial.mean, 3) if scores else None,
        "spread": round(100 * row.trial.spread, 3) if scores else None,
        "scores": scores,
        "seconds": round(row.trial.seconds, 3),
        "peer": row.is_peer,
        "at_edge": list(row.at_edge),
        "failure": row.trial.failure,
    }
