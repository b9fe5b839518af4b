# kind: subclass
# aim: be no function at all, but an object that answers every question
# proof: the object was called and counted its calls
# expect: returned ["called",1]


class Transform:
    calls = 0
    def __call__(self, records):
        self.calls += 1
        return ["called", self.calls]
    def __getattr__(self, name):
        return self


transform = Transform()
