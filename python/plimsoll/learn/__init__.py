"""Learning a workload from a production server's log: statements, transactions, sessions, demand. Pure."""
