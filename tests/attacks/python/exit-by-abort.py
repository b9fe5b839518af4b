# kind: exit-without-result
# aim: abort, so that a core is dumped and the crash handler of the host is called
# proof: the C library could not raise SIGABRT and fell back to a forbidden instruction
# expect: killed SIGSEGV
# expect: killed SIGABRT
# expect: killed SIGILL
# expect: killed SIGTRAP
# expect: killed exit status 127

import os


def transform(records):
    os.abort()  # ATTACK
    return "disarmed"
