"""What pylibmc (libmemcached) can do, on the server at port argv[1], with the protocol argv[2]: text, binary or sasl."""
import sys
import time

import pylibmc

mode = sys.argv[2]
auth = {"username": "user", "password": "secret"} if mode == "sasl" else {}
behaviors = {"cas": True, "tcp_nodelay": True, "receive_timeout": 20000000, "send_timeout": 20000000}
c = pylibmc.Client(["127.0.0.1:" + sys.argv[1]], binary=mode != "text", behaviors=behaviors, **auth)

if mode == "sasl":
    bad = pylibmc.Client(["127.0.0.1:" + sys.argv[1]], binary=True, username="user", password="wrong")
    try:
        bad.set("k", "v")
    except pylibmc.Error:
        pass
    else:
        raise AssertionError("a wrong password works")


def absent(call, *args):
    """libmemcached tells of a missing key in two ways."""
    try:
        return not call(*args)
    except pylibmc.NotFound:
        return True


assert c.set("k", "v") and c.get("k") == "v" and c.get("none") is None
assert c.add("k", "x") is False and c.add("new", "x")
assert c.replace("k", "r") and absent(c.replace, "none", "r")
for value in ("", b"bytes\x00\xff", 12345, 1.5, True, {"a": [1, None]}, "ü" * 1000, b"\r\nEND\r\n"):
    assert c.set("value", value) and c.get("value") == value
assert c.set("s", b"middle") and c.append("s", b"+") and c.prepend("s", b"-") and c.get("s") == b"-middle+"

value, cas = c.gets("k")
assert value == "r" and c.cas("k", "swapped", cas) and c.get("k") == "swapped"
assert c.cas("k", "late", cas) is False

many = {"many%d" % i: "v" * (i % 100) for i in range(1000)}
assert c.set_multi(many) == [] and c.get_multi(list(many) + ["none"]) == many
assert c.set_multi({"a": 1, "b": 2}, key_prefix="p:") == [] and c.get_multi(["a", "b"], key_prefix="p:") == {"a": 1, "b": 2}
assert c.delete_multi(["a"], key_prefix="p:") and c.get("p:a") is None and c.get("p:b") == 2

c.set("n", 10)
assert c.incr("n", 5) == 15 and c.decr("n", 20) == 0 and c.incr("n") == 1
try:
    c.incr("missing")
except pylibmc.NotFound:
    pass
else:
    raise AssertionError("incr of what is missing")
c.incr_multi(["n"], delta=3)
assert c.get("n") == 4
assert c.touch("n", 100) and absent(c.touch, "none", 100)
assert c.delete("n") and c.delete("n") is False

large = b"L" * 1000000
assert c.set("large", large) and c.get("large") == large
try:
    c.set("large", b"x" * (1 << 20))
except pylibmc.Error:
    pass
else:
    raise AssertionError("more than 1 MB is stored")
assert c.get("k") == "swapped"
assert c.set("squeezed", "z" * 3000000, min_compress_len=1000) and c.get("squeezed") == "z" * 3000000

(_, stats), = c.get_stats()
assert stats["version"] in ("1.6.45", b"1.6.45"), stats
assert int(stats["curr_items"]) > 900

clone = c.clone()
assert clone.get("k") == "swapped"
assert c.set("brief", "x", time=1)
time.sleep(2.1)
assert c.get("brief") is None
assert c.flush_all() and c.get("k") is None
c.disconnect_all()
assert c.set("again", 1)
