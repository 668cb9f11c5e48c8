"""Tables of users: files to columns of known kinds, and columns to numbers a model can learn from.

pandas reads, scikit-learn prepares; what is decided here is what a column is. A model keeps the
decision (:class:`TableColumns`) beside scikit-learn's parts, so that other tables are read alike.
"""

from .columns import ModelFeatures, Request
from .kinds import ColumnType, Wishes, column_types
from .preparation import TableColumns, preparation
from .reading import read_samples
from .samples import LabelledSamples

__all__ = [
    "ColumnType",
    "LabelledSamples",
    "ModelFeatures",
    "Request",
    "TableColumns",
    "Wishes",
    "column_types",
    "preparation",
    "read_samples",
]
