"""Pages in a browser of this machine: what runs now, what ran, guides and comparisons. Above `guide`, below `cli`."""
