# kind: earlier-data
# aim: search every object that the collector knows for programs and fixtures of others
# proof: it finds its own argument there, and looked at more than a thousand objects
# expect: returned [true,true,[]]
# fixture: ["my-own-argument"]

import gc


def transform(records):
    gc.unfreeze()
    mine, theirs = "-".join(["my", "own", "argument"]), "-".join(["canary", ""])
    seen, found, own = gc.get_objects(), [], False
    for thing in seen:
        if thing is records:
            own = True
        parts = thing.values() if type(thing) is dict else thing if type(thing) in (list, tuple) else ()
        for part in list(parts):
            if type(part) in (str, bytes):
                text = part if type(part) is str else part.decode("latin-1")
                own |= mine in text
                if theirs in text and text != theirs:
                    found.append(text[:80])
    return [len(seen) > 1000, own, found]
