"""Fitted models as files that are safe to load: arrays and a description, no code.

A model file is a zip archive (NumPy's ``.npz``) with the numeric arrays and one JSON text that says
how they make up the model. Classes are named by the stable names of :mod:`.registry`, so that code
can move without breaking files. Loading creates objects of these classes, fills in their attributes
and calls none of their code: what can be said in a file is a wrong model at worst.

Models may hold objects of scikit-learn (a pipeline, a PCA): those of :mod:`.scikit_learn`, a short
list of classes that were read one by one. Such a list is the idea of skops (``skops.io``), which is
not used itself:

* It checks the type of an object, not its content. Compiled code of scikit-learn follows the
  numbers in a model blindly (a label of a ``KNeighborsClassifier`` is an address to write to), so
  here each such class has a check that its arrays fit together. skops trusts all estimators.
* It imports what the file names by module path, calls ``__setstate__`` and constructors, and lets
  attributes take the place of methods. Here files cannot name anything but a registered class.
* Our classes would be strangers to it: every user would have to pass the paths of some dozen
  private records as ``trusted``, and these paths would become a promise.
* Files of this package would have two formats, and the package one dependency more.
"""

from .errors import ModelFileError
from .files import about, load, save
from .history import FORMAT

__all__ = ["FORMAT", "ModelFileError", "about", "load", "save"]
