"""From images to descriptors: dense RootSIFT, visual words, region covariances, random faces.

Needs the extra packages of ``pip install "kernelcoding[images]"`` when an image is first read.
"""

from .channels import Channel, Colour, Compressed, Derivatives, Intensity, Position
from .covariance import RegionCovariance
from .faces import RandomFaces
from .folders import load_folder
from .gabor import Gabor
from .reading import Masked, readable
from .records import ImageDescriptors
from .sift import DenseRootSIFT
from .words import VisualWords

__all__ = [
    "Channel",
    "Colour",
    "Compressed",
    "DenseRootSIFT",
    "Derivatives",
    "Gabor",
    "ImageDescriptors",
    "Intensity",
    "Masked",
    "Position",
    "RandomFaces",
    "RegionCovariance",
    "VisualWords",
    "load_folder",
    "readable",
]
