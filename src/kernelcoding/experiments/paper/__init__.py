"""The experiments: one declarative file per data set, and the rows that their tables share."""
