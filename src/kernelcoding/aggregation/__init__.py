"""From a set of descriptors to one vector: pooling, pyramids, VLAD, Fisher vectors, also in H."""

from .fisher import FisherVector
from .kernel_fisher import KernelFisherVector
from .kernel_vlad import KernelVLAD
from .pooling import Pooling
from .pyramid import SpatialPyramid
from .sets import DescriptorSet
from .streaming import ImageAggregator
from .vlad import VLAD

__all__ = [
    "VLAD",
    "DescriptorSet",
    "FisherVector",
    "ImageAggregator",
    "KernelFisherVector",
    "KernelVLAD",
    "Pooling",
    "SpatialPyramid",
]
