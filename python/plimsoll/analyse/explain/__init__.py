"""Why figures are as they are: where the time goes, scalability, storage, durability, replication, equivalence."""
