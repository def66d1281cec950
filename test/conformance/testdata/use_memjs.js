// What memjs (binary protocol) can do, on the server at argv[2], with the user argv[3] and password argv[4].
const assert = require("assert");
const memjs = require("memjs");
const [address, username, password] = process.argv.slice(2);
const options = { username, password, timeout: 20, conntimeout: 20000, retries: 0 };

(async () => {
  const c = memjs.Client.create(address, options);
  assert.strictEqual(await c.set("k", "v", { expires: 0 }), true);
  assert.strictEqual((await c.get("k")).value.toString(), "v");
  assert.strictEqual((await c.get("none")).value, null);
  assert.strictEqual(await c.add("k", "x", {}), false);
  assert.strictEqual(await c.add("new", "x", {}), true);
  assert.strictEqual(await c.replace("k", "r", {}), true);
  assert.strictEqual(await c.replace("none", "r", {}), false);
  assert.strictEqual(await c.append("k", "+"), true);
  assert.strictEqual((await c.get("k")).value.toString(), "r+");
  assert.strictEqual(await c.prepend("k", "-"), true); // memjs 1.3 sends append
  assert.strictEqual((await c.increment("n", 5, { initial: 10 })).value, 10);
  assert.strictEqual((await c.increment("n", 5, {})).value, 15);
  assert.strictEqual((await c.decrement("n", 20, {})).value, 0);
  assert.strictEqual(await c.touch("n", 100), true);
  assert.strictEqual(await c.touch("none", 100), false);
  assert.strictEqual(await c.delete("n"), true);
  assert.strictEqual(await c.delete("n"), false);
  const large = Buffer.alloc(1000000, "large ");
  assert.strictEqual(await c.set("large", large, {}), true);
  assert.ok((await c.get("large")).value.equals(large));
  await assert.rejects(c.set("large", Buffer.alloc(1 << 20), {}));
  await Promise.all([...Array(500).keys()].map((i) => c.set("many" + i, "value " + i, {})));
  const many = await Promise.all([...Array(500).keys()].map((i) => c.get("many" + i)));
  many.forEach((got, i) => assert.strictEqual(got.value.toString(), "value " + i));
  assert.strictEqual(await c.set("brief", "x", { expires: 1 }), true);
  await new Promise((done) => setTimeout(done, 2100));
  assert.strictEqual((await c.get("brief")).value, null);
  await new Promise((done, fail) => c.stats((err, server, stats) => {
    if (err) return fail(err);
    assert.strictEqual(stats.version, "1.6.45");
    done();
  }));
  await new Promise((done, fail) => c.flush((err) => (err ? fail(err) : done())));
  assert.strictEqual((await c.get("k")).value, null);
  if (username) {
    const bad = memjs.Client.create(address, { ...options, password: "wrong" });
    await assert.rejects(bad.set("k", "v", {}));
    bad.close();
  }
  c.close();
})().catch((err) => {
  console.error(err);
  process.exit(1);
});
