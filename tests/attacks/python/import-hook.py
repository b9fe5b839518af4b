# kind: patched-harness
# aim: stay in the import system, where later programs would call it
# proof: the import went through the hook
# expect: returned ["hook",["never_there"]]

import sys
CALLS = []


class Finder:
    def find_spec(self, name, path=None, target=None):
        CALLS.append(name)


def transform(records):
    sys.meta_path.insert(0, Finder())
    try:
        import never_there
    except ImportError:
        pass
    return ["hook", CALLS]
