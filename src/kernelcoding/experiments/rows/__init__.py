"""Rows that tables of several data sets share: our methods, their controls, and anchors."""
