"""The worker inside a sandbox. Standard library only: the image is nothing but an interpreter.

The server bundles these modules and sends them as one `-c` argument when it starts a worker; see
`leakscale_server.sandbox_pool.bundle`. The way of one job: `supervisor` → fork → `confinement` → `sql_runner` or
`python_runner` → `canonical` → `wire`.
"""
