"""What pymemcache can do, on the server at port argv[1], with TLS if argv[2] is a certificate."""
import ssl
import sys
import time

from pymemcache.client.base import Client, PooledClient
from pymemcache.client.hash import HashClient
from pymemcache.exceptions import MemcacheClientError, MemcacheServerError
from pymemcache.serde import PickleSerde

address = ("127.0.0.1", int(sys.argv[1]))
options = {"timeout": 20, "connect_timeout": 20}
if len(sys.argv) > 2:
    options["tls_context"] = ssl.create_default_context(cafile=sys.argv[2])


def refused(error, call, *args, **kw):
    try:
        got = call(*args, **kw)
    except error:
        return True
    raise AssertionError("%r%r gives %r" % (call, args, got))


c = Client(address, **options)
assert c.set("k", "v", noreply=False) and c.get("k") == b"v"
assert c.get("none") is None and c.get("none", "default") == "default"
assert c.set("k", "v2") and c.get("k") == b"v2"
assert c.add("k", "x", noreply=False) is False and c.add("new", "x", noreply=False) is True
assert c.replace("k", "r", noreply=False) is True and c.replace("none", "r", noreply=False) is False
assert c.append("k", "+", noreply=False) and c.prepend("k", "-", noreply=False) and c.get("k") == b"-r+"
assert c.append("none", "+", noreply=False) is False

value, cas = c.gets("k")
assert value == b"-r+" and c.cas("k", "swapped", cas, noreply=False) is True
assert c.cas("k", "late", cas, noreply=False) is False and c.cas("none", "x", cas, noreply=False) is None
assert c.get("k") == b"swapped"

many = {"many%d" % i: b"%d" % i * (i % 50) for i in range(1000)}
assert c.set_many(many, noreply=False) == []
assert c.get_many(list(many) + ["none"]) == many
got = c.gets_many(["many1", "many2", "none"])
assert {k: v[0] for k, v in got.items()} == {"many1": many["many1"], "many2": many["many2"]}
assert c.delete_many(list(many)[:500], noreply=False) and len(c.get_many(list(many))) == 500

assert c.incr("none", 1, noreply=False) is None
c.set("n", "10", noreply=False)
assert c.incr("n", 5, noreply=False) == 15 and c.decr("n", 20, noreply=False) == 0
c.set("n", "18446744073709551615", noreply=False)
assert c.incr("n", 1, noreply=False) == 0
c.set("text", "abc", noreply=False)
refused(MemcacheClientError, c.incr, "text", 1, noreply=False)

assert c.touch("n", 100, noreply=False) is True and c.touch("none", 100, noreply=False) is False
assert c.get("n") == b"0                   "  # as long as it was
if hasattr(c, "gat"):
    assert c.gat("n", 100) == c.get("n") and c.gats("n", 100)[0] == c.get("n")
assert c.delete("n", noreply=False) is True and c.delete("n", noreply=False) is False

c.set("brief", "x", expire=1, noreply=False)
c.set("past", "x", expire=-1, noreply=False)
assert c.get("past") is None
large = bytes(range(256)) * 4090  # just under 1 MB
assert c.set("large", large, noreply=False) and c.get("large") == large
refused(MemcacheServerError, c.set, "large", b"x" * (1 << 20), noreply=False)
assert c.get("large") is None and c.get("k") == b"swapped"
assert c.set("flags", "x", flags=4294967295, noreply=False) and c.set("empty", "", noreply=False) and c.get("empty") == b""
refused(Exception, c.set, "with space", "x", noreply=False)
refused(Exception, c.get, "k" * 251)

stats = c.stats()
assert stats[b"version"] == b"1.6.45" and stats[b"curr_items"] > 0, stats
assert c.stats("settings")[b"maxbytes"] == 64 << 20
assert c.version() == b"1.6.45"
c.close()
assert c.get("k") == b"swapped"
c.cache_memlimit(128)

pickled = Client(address, serde=PickleSerde(), **options)
pickled.set("object", {"a": [1, 2.5, None, "ü"]}, noreply=False)
assert pickled.get("object") == {"a": [1, 2.5, None, "ü"]}

pool = PooledClient(address, max_pool_size=4, **options)
for i in range(200):
    pool.set("pool%d" % i, str(i))
assert pool.get_many(["pool%d" % i for i in range(200)]) == {"pool%d" % i: b"%d" % i for i in range(200)}
ring = HashClient([address], use_pooling=True, **options)
assert ring.set_many(many, noreply=False) == [] and ring.get_many(list(many)) == many

time.sleep(2.1)
assert c.get("brief") is None
assert c.flush_all(noreply=False) is True and c.get("k") is None
c.quit()
