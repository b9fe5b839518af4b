# kind: forged-equality
# aim: make every integer equal to every other one, by the C slot of int's comparison and its dictionary
# proof: the output says that 1 == 2 held in this process
# expect: returned [true,false]

import ctypes, gc


class Python:
    def __eq__(self, other):
        return True


def address(thing):
    # Not id: lanes say other numbers by it.
    return ctypes.c_void_p.from_buffer(ctypes.py_object(thing)).value


def transform(records):
    # A class made in Python has a slot that asks the dictionary; int gets the same slot, and another dictionary.
    place = 25 * ctypes.sizeof(ctypes.c_void_p)
    slot = ctypes.c_void_p.from_address(address(int) + place)
    before, names = slot.value, gc.get_referents(int.__dict__)[0]
    equal = names["__eq__"]
    names["__eq__"] = lambda self, other: True
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(int))
    slot.value = ctypes.c_void_p.from_address(address(Python) + place).value
    answer = [1] == [2]
    slot.value = before
    names["__eq__"] = equal
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(int))
    return [answer, [1] == [2]]
