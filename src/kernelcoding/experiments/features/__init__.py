"""Descriptors of lists of images, computed once and kept beside the records."""
