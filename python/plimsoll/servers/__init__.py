"""Servers: those that Plimsoll starts itself, with their guardian, and what can be asked of any."""
