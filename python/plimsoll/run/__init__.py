"""Executing a plan: the only stage with effects. The trial's states, events, resume."""
