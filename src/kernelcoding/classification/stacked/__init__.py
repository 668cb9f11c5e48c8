"""K-SVD on samples that carry their labels as further coordinates: LC-KSVD and D-KSVD.

``label_consistent`` has the two estimators, ``ksvd`` what they share, ``frame`` the coordinates.
"""

from .label_consistent import DiscriminativeKSVD, LabelConsistentKSVD

__all__ = ["DiscriminativeKSVD", "LabelConsistentKSVD"]
