"""Numba only: arrays and numbers in, no strings, no checks, nothing of the house.

Records are named tuples, so that everything also runs as plain Python.
"""
