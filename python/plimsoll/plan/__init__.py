"""From what users wrote to trials in order. Pure: no clock, no server, no file."""
