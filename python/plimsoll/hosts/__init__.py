"""Machines on which servers run: this one, and others over the user's OpenSSH, behind one interface."""
