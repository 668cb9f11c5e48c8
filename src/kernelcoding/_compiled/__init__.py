"""Numba only: arrays and numbers in, no classes, no strings, no checks."""
