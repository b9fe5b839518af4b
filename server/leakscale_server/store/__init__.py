"""What the server keeps on disk: a public registry, a private vault, frozen editions. Rows are added, never changed."""
