"""Recordings on disk: the seam between measuring and judging. Formats, writing, reading."""
