"""Every public name, and where the site lists it."""

from __future__ import annotations

import importlib
import inspect

MODULES = {  # public, and where their names are listed
    "kernelcoding": "estimators",
    "kernelcoding.kernels": "kernels",
    "kernelcoding.priors": "priors",
    "kernelcoding.constraints": "constraints",
    "kernelcoding.images": "images",
    "kernelcoding.aggregation": "aggregation",
    "kernelcoding.datasets": "datasets",
    "kernelcoding.displays": "displays",
    "kernelcoding.distributed": "distributed",
    "kernelcoding.persistence": "persistence",
    "kernelcoding.experiments": "experiments",
    "kernelcoding.report": "report",
    "kernelcoding.formulations": "building",
    "kernelcoding.dictionary": "building",
}


def public_objects() -> list[tuple[str, str, object]]:
    """Module, name and object of everything public but modules and the version."""
    found: list[tuple[str, str, object]] = []
    for module in MODULES:
        room = importlib.import_module(module)
        names = (name for name in room.__all__ if name != "__version__")
        objects = ((module, name, getattr(room, name)) for name in names)
        known = [value for _, _, value in found]
        found += [
            entry
            for entry in objects
            if not inspect.ismodule(entry[2]) and not any(entry[2] is value for value in known)
        ]
    return found


PUBLIC = public_objects()
