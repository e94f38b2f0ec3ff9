"""Replication between servers with GTIDs, MySQL and MariaDB: set up, looked at, waited for, turned round."""
