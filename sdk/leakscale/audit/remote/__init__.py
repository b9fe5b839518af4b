"""An audit on a server: who wrote it deposits it, who answers it never holds a right answer."""
