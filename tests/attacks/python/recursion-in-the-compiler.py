# kind: recursion-bomb
# aim: crash the parser with ten thousand parentheses
# proof: the compiler's own refusal is the detail
# expect: exception SyntaxError
# expect: exception RecursionError
# expect: memory_limit address space
# expect: killed SIGSEGV


def transform(records):
    eval("(" * 10_000 + "1" + ")" * 10_000)  # ATTACK
    return "disarmed"
