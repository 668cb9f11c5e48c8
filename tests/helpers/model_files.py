"""Model files, honest and forged."""

import io
import json
import warnings

import numpy as np
import pytest

from helpers import models
from kernelcoding import persistence
from kernelcoding.persistence import ModelFileError, load, save


def there_and_back(model, tmp_path):
    """A model saved and loaded."""
    save(model, tmp_path / "model")
    return load(tmp_path / "model")


def contents(path):
    """Arrays and description of a model file."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    return arrays, json.loads(str(arrays.pop("description")))


def write(path, text, arrays):
    """A file of these arrays and this description."""
    with path.open("wb") as file:
        np.savez(file, **arrays, description=np.array(text))
    return path


def forge(path, tree, arrays=(), **changes):
    """A file that says what it likes."""
    text = json.dumps({"format": persistence.FORMAT, "version": "0", "model": tree, **changes})
    return write(path, text, dict(arrays))


def coder_of(**state):
    """The description of a coder with these attributes."""
    return {"class": "kernelcoding.coders.sparse:KernelSparseCoder", "state": state}


def write_honest(path):
    """A small file with every kind of part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = models.supervised("bilinear", n_atoms=4, max_iter=1).fit(
            models.X[:12, 8:14], models.NAMES[:12]
        )
    save(model, path)
    return path


def refused(path, match=None):
    """Loading says that this file is no model, and why."""
    with pytest.raises(ModelFileError, match=match) as caught:
        load(path)
    assert str(path) in str(caught.value)


class Bomb:
    """Runs code when it is unpickled."""

    exploded = False

    def __reduce__(self):
        return exec, ("from helpers.model_files import Bomb; Bomb.exploded = True",)


def pickled_array(value):
    """The bytes of an array that NumPy would have to unpickle."""
    file = io.BytesIO()
    np.save(file, np.array([value], dtype=object), allow_pickle=True)
    return file.getvalue()
