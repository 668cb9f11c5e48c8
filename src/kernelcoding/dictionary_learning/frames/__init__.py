r"""Coordinates for vectors of H: where atoms live while they are learned.

Atoms are combinations of landmarks, :math:`\Phi(D) = \Phi(Z) A`. Learning needs sums of vectors and
inner products between them, and both frames offer these through plain arrays, a column per vector:

* :class:`SampleFrame`, the paper's case Z = X: the column holds A and K A, one below the other. No
  inverse of K is ever needed.
* :class:`LandmarkFrame`, few landmarks: coordinates in an orthonormal basis of their span. Samples
  are visited in blocks and need not fit in memory.
"""

from .base import Frame
from .choosing import frame_of
from .landmarks import LandmarkFrame
from .samples import SampleFrame
from .seen import SampleBlock

__all__ = ["Frame", "LandmarkFrame", "SampleBlock", "SampleFrame", "frame_of"]
