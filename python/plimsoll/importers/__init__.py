"""Results of others become recordings: published tables, and logs of sysbench."""
