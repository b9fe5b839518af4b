"""Look for the words of an edition in a training corpus, in one pass and in memory that does not grow with it."""
