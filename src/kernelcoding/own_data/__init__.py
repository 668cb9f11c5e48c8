"""Models of users' own data: what is done to samples, the fit, and what a file says about it."""
