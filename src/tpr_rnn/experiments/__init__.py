"""Experiments: grids of runs, launched on local processes."""
