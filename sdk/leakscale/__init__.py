"""LeakScale: how much of a language model's benchmark score is owed to having seen the benchmark."""

__version__ = "0.1.0"
