"""The acceptance rule over two passes, and what a rejection may say."""
