"""Settings that must stand before torch is loaded. Imported first by every package here that uses torch."""

from __future__ import annotations

import os

# Idle OpenMP threads that spin take the core from the thread that works: with two busy cores shared by two processes,
# training falls to a fraction of its speed. libgomp reads this once, when torch loads it.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# The Rust tokenizer's own thread pool warns, and may deadlock, after a fork; our batches are too small to need it.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
