"""Judging: recordings in, an `Analysis` out. Pure; one method per file, its assumptions and source on top."""
