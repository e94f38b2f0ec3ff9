"""Statistics: arrays in, values out, nothing of studies or recordings. Each method with its assumptions and source."""
