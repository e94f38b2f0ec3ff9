"""Drivers on the nodes of a Ray cluster. Nothing here imports ray but the process that is connected to it."""
