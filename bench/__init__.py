"""Plimsoll side by side with its peers: ratios of interleaved pairs, with bounds, against the goals of speed.

`make bench` runs it. It never passes or fails anything: machines differ, and tests do not assert speed.
"""
