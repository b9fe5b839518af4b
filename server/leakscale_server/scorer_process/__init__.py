"""The scorer as the API process has it: a child over a socket pair. Nothing here can open the vault.

`connection` carries calls, `process` starts the child and starts it again when it dies.
"""
