"""A study from nothing to a finding: server, certification, exposure, adaptation, banks, disclosure, report.

`leakscale.study.pipeline.run_study` needs the extras `train` and `report`, and `server` where it starts its own.
"""
