"""From text to numbers: stories, vocabulary, encoding, batches."""
