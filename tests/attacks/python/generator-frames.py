# kind: frame-walk
# aim: finish the runner's generator early by its frame, so that a fixture has no record
# proof: the generator was found running and refused to be closed
# expect: returned ["generator","ValueError"]

import gc


def transform(records):
    gc.unfreeze()
    running = [thing for thing in gc.get_objects() if type(thing).__name__ == "generator" and thing.__name__ == "run_python"]
    if not running:
        return "nothing"
    try:
        running[0].close()
    except ValueError:
        return ["generator", "ValueError"]
