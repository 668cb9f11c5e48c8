"""Records in, one self-contained page out; nothing is computed here."""
