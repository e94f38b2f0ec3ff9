"""Judging: recordings in, an `Analysis` out. Pure; each method with its assumptions and source."""
