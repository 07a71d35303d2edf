"""What a trained model has learned: its memory as a graph, and why it answers as it does."""
