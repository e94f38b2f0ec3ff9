"""Results of others become recordings: published tables now."""
