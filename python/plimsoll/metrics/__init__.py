"""Metrics of what runs now, for Prometheus and OpenTelemetry.

Deliberately not here: figures of a study, which recordings give.
"""
