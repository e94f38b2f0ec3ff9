"""Pre-flight checks: what of a machine and its servers would make figures wrong, uncertain or hard to read."""
