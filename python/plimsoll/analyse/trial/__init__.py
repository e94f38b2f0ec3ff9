"""One trial judged by itself: its window, steady state, percentiles, errors, processors and servers."""
