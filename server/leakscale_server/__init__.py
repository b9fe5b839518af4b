"""The LeakScale server: builds families, runs candidates in sandboxes, certifies, freezes and scores."""
