"""Trials of a study together: cells, curves, ratios, differences, effects, capacities and duets."""
