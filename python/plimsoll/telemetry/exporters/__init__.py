"""Exporters: pages in Prometheus' text format as a source of telemetry for hosts that Plimsoll cannot look at."""
