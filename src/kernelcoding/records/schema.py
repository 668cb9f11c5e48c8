"""What one line of a file of records is: the description of an experiment, or one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

SCHEMA = 1
JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
JSONObject = dict[str, JSON]


@dataclass(frozen=True, slots=True)
class ExperimentRecord:
    """What an experiment is: the first line of its file, written again where it has changed."""

    experiment: str
    title: str = ""
    protocol: str = ""
    paper: str = ""
    metric: str = "accuracy"
    quick: bool = False

    def as_line(self) -> JSONObject:
        """The object that is written as one line."""
        return {
            "kind": "experiment",
            "schema": SCHEMA,
            "experiment": self.experiment,
            "title": self.title,
            "protocol": self.protocol,
            "paper": self.paper,
            "metric": self.metric,
            "quick": self.quick,
        }


@dataclass(frozen=True, slots=True)
class ExampleAtom:
    """An atom that the code of an example uses."""

    weight: float
    label: str
    image: str | None


@dataclass(frozen=True, slots=True)
class Example:
    """A query, its strongest atoms, and how far it is from each class.

    A name, and probabilities in the place of residuals, are for users' own data; no file has them.
    """

    label: str
    predicted: str
    image: str | None
    atoms: tuple[ExampleAtom, ...]
    residuals: tuple[tuple[str, float], ...] = ()
    name: str = ""
    probabilities: tuple[tuple[str, float], ...] = ()

    def as_json(self) -> JSONObject:
        """The object within a result's line."""
        query = {"label": self.label, "predicted": self.predicted, "image": self.image}
        atoms = [
            {"weight": atom.weight, "label": atom.label, "image": atom.image} for atom in self.atoms
        ]
        return {"query": query, "atoms": atoms, "residuals": dict(self.residuals)}


@dataclass(frozen=True, slots=True)
class Artifacts:
    """What a run leaves beside its number; each part may be empty."""

    objective_history: tuple[float, ...] = ()
    objective_steps: tuple[str, ...] = ()
    kernel_history: tuple[float, ...] = ()
    classes: tuple[str, ...] = ()
    confusion: tuple[tuple[float, ...], ...] = ()  # counts, rows are the truth
    per_class: tuple[tuple[str, float], ...] = ()  # the metric of each class, in percent
    examples: tuple[Example, ...] = ()
    atom_images: tuple[str, ...] = ()
    gap: float | None = None  # no test sample's code is further from its optimum
    error: float | None = None  # mean squared, as a share of the atoms' squared norm
    warnings: tuple[str, ...] = ()

    def as_json(self) -> JSONObject:
        """The object within a result's line; empty parts are left out."""
        certificate = {"gap": self.gap, "error": self.error}
        parts: JSONObject = {
            "objective_history": self.objective_history,
            "objective_steps": self.objective_steps,
            "kernel_history": self.kernel_history,
            "classes": self.classes,
            "per_class": dict(self.per_class),
            "confusion": self.confusion,
            "certificate": {name: x for name, x in certificate.items() if x is not None},
            "examples": [example.as_json() for example in self.examples],
            "atom_images": self.atom_images,
            "warnings": self.warnings,
        }
        return {name: part for name, part in parts.items() if part}


@dataclass(frozen=True, slots=True)
class ResultRecord:
    """One method on one split, at one number of atoms."""

    experiment: str
    key: str  # what identifies the result in its file
    table: str
    method: str
    control_of: str | None = None  # the method of which this one is the control
    size: float | None = None  # atoms
    split: int | str = ""
    seed: int | str = ""
    value: float | None = None  # percent
    paper: float | None = None  # percent
    seconds: float | None = None
    memory: float | None = None  # megabytes
    nonzeros: float | None = None  # per code, on average
    configuration: tuple[tuple[str, JSON], ...] = ()
    versions: tuple[tuple[str, JSON], ...] = ()
    finished: str = ""
    artifacts: Artifacts = field(default_factory=Artifacts)
    source: str = ""  # file and line it was read from; not written

    def as_line(self) -> JSONObject:
        """The object that is written as one line."""
        return {
            "kind": "result",
            "schema": SCHEMA,
            "experiment": self.experiment,
            "key": self.key,
            "table": self.table,
            "method": self.method,
            "control_of": self.control_of,
            "size": self.size,
            "split": self.split,
            "paper": self.paper,
            "seed": self.seed,
            "value": self.value,
            "seconds": self.seconds,
            "peak_memory_mb": self.memory,
            "nonzeros": self.nonzeros,
            "configuration": dict(self.configuration),
            "artifacts": self.artifacts.as_json(),
            "versions": dict(self.versions),
            "finished": self.finished,
        }


Record = ExperimentRecord | ResultRecord
