"""Findings, warnings and doubts as values, and the checks that give rise to them: one module for each subject."""
