"""Samples that Dask holds in blocks: the one room that imports Dask, and only when it is used."""
