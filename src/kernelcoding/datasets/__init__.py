"""Readers of the public data sets of the experiments, in the style of scikit-learn's fetchers."""

from .archives import ArchiveError
from .fmd import fetch_fmd
from .home import clear_data_home, get_data_home
from .mnist import fetch_fashion_mnist, fetch_mnist
from .scenes import fetch_mit_indoor, fetch_scene15
from .status import DatasetStatus, describe
from .virus import fetch_virus
from .voc2007 import fetch_voc2007, fetch_voc2007_words
from .yaleb import fetch_yaleb

__all__ = [
    "ArchiveError",
    "DatasetStatus",
    "clear_data_home",
    "describe",
    "fetch_fashion_mnist",
    "fetch_fmd",
    "fetch_mit_indoor",
    "fetch_mnist",
    "fetch_scene15",
    "fetch_virus",
    "fetch_voc2007",
    "fetch_voc2007_words",
    "fetch_yaleb",
    "get_data_home",
]
