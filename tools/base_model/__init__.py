"""Recipe of the tiny language model that ships with the package; run it with `python tools/build_base_model.py`."""
