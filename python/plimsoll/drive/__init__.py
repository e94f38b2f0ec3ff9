"""Driving load: the engine protocol as seen from Python, and launching the engine. Local now; other hosts later."""
