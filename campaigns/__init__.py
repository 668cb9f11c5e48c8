"""Campaigns: random problems and faults, looked at by truths that do not trust the library."""
