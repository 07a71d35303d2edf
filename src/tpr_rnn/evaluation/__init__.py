"""How good a model is: scores, probes, and the record of a run."""
