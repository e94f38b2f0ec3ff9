"""The command line: arguments in, exit codes out. The only package that prints."""
