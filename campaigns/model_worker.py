"""A process that loads files of strangers and uses what it got; if it dies, that is seen.

Requests on standard input: one line of JSON, then the bytes it announces. Answers: lines of JSON.
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from kernelcoding.persistence import ModelFileError, load

LARGEST_MEMORY = 8 << 30
METHODS = ("transform", "predict", "decision_function")
COMPILED = "index is out of bounds"  # what Numba says; NumPy names the index


def answer(path: Path, samples: np.ndarray) -> dict[str, str]:
    """How loading and using a file ended."""
    try:
        model = load(path)
    except ModelFileError as error:
        if str(path) not in str(error):
            return {"end": "raised", "what": f"a ModelFileError without the name: {error}"}
        return {"end": "refused"}
    except BaseException as error:
        return {"end": "raised", "what": f"{type(error).__name__}: {str(error)[:200]}"}
    digest = hashlib.sha256()
    for name in METHODS:
        if not hasattr(model, name):
            continue
        try:
            found = getattr(model, name)(samples)
        except Exception as error:  # a wrong model may refuse samples in any words but one
            if isinstance(error, IndexError) and str(error) == COMPILED:
                return {"end": "out of bounds", "what": f"{name}: {error}"}
            digest.update(type(error).__name__.encode())
            continue
        found = found.toarray() if sparse.issparse(found) else np.asarray(found)
        digest.update(str(found.dtype).encode() + found.astype(str).tobytes())
    return {"end": "loaded", "what": digest.hexdigest()}


def main() -> None:
    """Answer until nobody asks."""
    resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    requests, answers = sys.stdin.buffer, sys.stdout
    sys.stdout = sys.stderr
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kc"
        while line := requests.readline():
            request = json.loads(line)
            path.write_bytes(requests.read(request["size"]))
            samples = np.array(request["samples"])
            answers.write(json.dumps(answer(path, samples)) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
