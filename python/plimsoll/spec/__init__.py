"""What users write, parsed and checked: study files, options, targets. All faults are reported at once."""
