"""Algorithms on ``(K, k)``, one a file; :mod:`.choose` is the table that picks one."""
