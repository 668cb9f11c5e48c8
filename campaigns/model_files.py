"""Model files from strangers: an equal model or a ModelFileError, and never a crash."""

from __future__ import annotations

import io
import json
import os
import select
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.random import Generator
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import kernelcoding as kc

from .base import Case, Failure
from .mutations import damaged_array, damaged_bytes, damaged_tree

HOME = Path(__file__).parent
PATIENCE = 120.0  # seconds, with the time to compile with checks of bounds


def samples() -> tuple[np.ndarray, np.ndarray]:
    """Three classes."""
    rng, labels = np.random.default_rng(0), np.arange(12) % 3
    return np.eye(3)[labels] + 0.2 * rng.random((12, 3)), labels


def honest_files() -> dict[str, bytes]:
    """Small models with all kinds of parts."""
    X, y = samples()
    models = {
        "sparse": kc.KernelSparseCoder().fit(X),
        "groups": kc.KernelSparseCoder(groups=y).fit(X),
        "llc": kc.KernelLLC(n_neighbors=3).fit(X),
        "pursuit": kc.KernelMatchingPursuit(n_nonzero=2).fit(X),
        "words": kc.KernelBagOfWords().fit(X),
        "residual": kc.ResidualClassifier().fit(X, y),
        "dictionary": kc.KernelDictionaryLearning(n_atoms=4, max_iter=1).fit(X),
        "supervised": kc.SupervisedKernelCoding(n_atoms=6, max_iter=1, classifier="bilinear").fit(
            X, y.astype(str)
        ),
        "neighbours": make_pipeline(kc.KernelLLC(n_neighbors=2), KNeighborsClassifier(2)).fit(X, y),
    }
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models.items():
            kc.save(model, Path(folder) / name)
            files[name] = (Path(folder) / name).read_bytes()
    return files


class ModelFiles:
    """Damage files of fitted models in bytes, description and arrays."""

    name = "model-files"
    counts = "faults"
    share = 1.5

    def __init__(self, check_bounds: bool = True) -> None:
        self.check_bounds = check_bounds
        self._worker: subprocess.Popen[bytes] | None = None
        self._expected: dict[str, str] = {}

    @cached_property
    def files(self) -> dict[str, bytes]:
        """What is damaged."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return honest_files()

    def draw(self, rng: Generator) -> Case:
        """One damaged file."""
        names = list(self.files)
        name, other = (names[int(i)] for i in rng.integers(0, len(names), 2))
        kind = str(rng.choice(["bytes", "bytes", "description", "arrays"]))
        if kind == "bytes":
            content = damaged_bytes(rng, self.files[name], self.files[other])
        else:
            content = self._rewritten(rng, name, kind)
        return {"model": name, "other": other, "kind": kind, "content": content}

    def _rewritten(self, rng: Generator, name: str, kind: str) -> bytes:
        with np.load(io.BytesIO(self.files[name])) as file:
            arrays = {key: file[key] for key in file.files}
        if kind == "description":
            tree = damaged_tree(rng, json.loads(str(arrays["description"])))
            arrays["description"] = np.array(json.dumps(tree))
        else:
            key = str(rng.choice([key for key in arrays if key != "description"]))
            arrays[key] = damaged_array(rng, arrays[key])
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        return buffer.getvalue()

    def label(self, case: Case) -> str:
        """Kind of damage and model."""
        return f"{case['kind']} {case['model']}"

    def check(self, case: Case) -> int:
        """Load it elsewhere and look how that ended."""
        if self._worker is None:
            self._start()
        said = self._ask(case["content"])
        if said["end"] not in ("loaded", "refused"):
            raise Failure(f"{said['end']}: {said.get('what', '')}")
        if case["kind"] == "bytes" and said["end"] == "loaded":
            known = {self._expected[case["model"]], self._expected[case["other"]]}
            if said["what"] not in known:
                raise Failure("a damaged file was loaded as another model")
        return 1

    def _start(self) -> None:
        # A cache of its own: compiled code without checks would be found in the usual one.
        extra = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(HOME / ".numba")}
        environment = {**os.environ, **(extra if self.check_bounds else {})}
        environment["PYTHONPATH"] = os.pathsep.join(part for part in sys.path if part)
        self._worker = subprocess.Popen(
            [sys.executable, "-m", "campaigns.model_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=HOME.parent,
        )
        for name, content in self.files.items():
            said = self._ask(content)
            if said["end"] != "loaded":
                raise Failure(f"an honest file of {name} was not loaded: {said}")
            self._expected[name] = said["what"]

    def _ask(self, content: bytes) -> dict[str, str]:
        worker = self._worker
        assert worker is not None
        assert worker.stdin is not None
        assert worker.stdout is not None
        request = {"size": len(content), "samples": samples()[0][:4].tolist()}
        try:
            worker.stdin.write(json.dumps(request).encode() + b"\n" + content)
            worker.stdin.flush()
            ready = select.select([worker.stdout], [], [], PATIENCE)[0]
            line = worker.stdout.readline() if ready else b""
        except BrokenPipeError:
            line, ready = b"", [worker]
        if line:
            return json.loads(line)
        self.close()
        return {"end": "crash" if ready else "hang"}

    def smaller(self, case: Case) -> Iterator[Case]:
        """Half of the damaged bytes, where the length is as it was."""
        honest, content = self.files[case["model"]], case["content"]
        if case["kind"] != "bytes" or len(honest) != len(content):
            return
        places = [i for i, (a, b) in enumerate(zip(honest, content, strict=True)) if a != b]
        for part in (places[::2], places[1::2]) if len(places) > 1 else ():
            healed = bytearray(content)
            for place in part:
                healed[place] = honest[place]
            yield {**case, "content": bytes(healed)}

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.kill()
            self._worker.wait()
            for pipe in (self._worker.stdin, self._worker.stdout):
                assert pipe is not None
                pipe.close()
            self._worker = None
