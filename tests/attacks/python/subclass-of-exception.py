# kind: subclass
# aim: run code in the runner's own handler, by an exception whose text and class lie
# proof: the nearest class that the program did not make is the detail
# expect: exception LookupError


class Meta(type):
    __name__ = property(lambda cls: 1 / 0)
    def __subclasscheck__(cls, other):
        return True
    def mro(cls):
        return [cls, *type.mro(cls)[1:]]


def fail():
    class Failure(LookupError, metaclass=Meta):
        def __str__(self):
            raise KeyboardInterrupt
    raise Failure


def transform(records):
    fail()  # ATTACK
    return "disarmed"
