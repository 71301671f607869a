"""Renderers: one module per output. They know the analysis, and neither counters nor maps."""
