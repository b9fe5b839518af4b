# kind: network
# aim: use the modules that know the network
# proof: each import was tried and failed
# expect: returned ["ImportError","ImportError","ImportError","ImportError"]
# expect: returned ["ImportError","imported","ImportError","ImportError"]

import importlib


def attempt(name):
    try:
        importlib.import_module(name)
        return "imported"
    except ImportError:
        return "ImportError"
    except OSError as error:
        return type(error).__name__


def transform(records):
    return [attempt(name) for name in ("socket", "_socket", "urllib.request", "asyncio")]
