"""Model files, honest and forged."""

import io
import json
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import kernelcoding as kc
from helpers import models
from kernelcoding.persistence import FORMAT, ModelFileError, load, save
from kernelcoding.persistence.history import NAMES_OF_FORMAT_1

PATHS_IN_FORMAT_1 = {name: path for path, name in NAMES_OF_FORMAT_1.items()}


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
    content = {"format": FORMAT, "version": "0", "scikit-learn": sklearn.__version__}
    content |= {"model": tree, **changes}
    if content["format"] == 1:
        content["model"] = in_format_1(tree)
    return write(path, json.dumps(content), dict(arrays))


def in_format_1(tree):
    """A description with the classes called by their paths, as they were."""
    if isinstance(tree, list):
        return [in_format_1(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    tree = {key: in_format_1(part) for key, part in tree.items()}
    for key in ("class", "of"):
        if isinstance(tree.get(key), str):
            tree[key] = PATHS_IN_FORMAT_1.get(tree[key], tree[key])
    return tree


def coder_of(**state):
    """The description of a coder with these attributes."""
    return {"class": "KernelSparseCoder", "state": state}


def classes_in(tree):
    """What the classes in a description are called."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    found = {name for part in parts for name in classes_in(part)}
    return found | {tree["class"]} if isinstance(tree, dict) and "class" in tree else found


def write_honest(path):
    """A small file with every kind of part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = models.supervised("bilinear", n_atoms=4, max_iter=1).fit(
            models.X[:12, 8:14], models.NAMES[:12]
        )
    save(model, path)
    return path


def write_pipeline(path, classifier):
    """A small file with objects of scikit-learn that compiled code looks into."""
    X, names = models.X[:12, 8:14], models.NAMES[:12]
    kinds = np.where(X[:, :2] > 0.1, "much", "little").astype(object)
    parts = [
        ("kinds", OneHotEncoder(drop="first"), [0, 1]),
        ("numbers", make_pipeline(SimpleImputer(), PCA(2)), slice(2, 8)),
    ]
    model = make_pipeline(ColumnTransformer(parts), kc.KernelLLC(n_neighbors=2), classifier)
    save(model.fit(np.hstack([kinds, X]), names), path)
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


def array_bytes(array, **options):
    """The bytes of an array, with its header."""
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def pickled_array(value):
    """The bytes of an array that NumPy would have to unpickle."""
    return array_bytes(np.array([value], dtype=object), allow_pickle=True)
