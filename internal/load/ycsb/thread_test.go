package ycsb

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"godwit/internal/load"
)

func words2(line string) []string { return strings.Fields(line) }

// The shares of operations are those of the workloads, within a hundredth.
func TestMixes(t *testing.T) {
	const n = 40_000
	for _, c := range []struct {
		workload string
		want     map[string]float64
	}{
		{"a", map[string]float64{"READ": .5, "UPDATE": .5}},
		{"b", map[string]float64{"READ": .95, "UPDATE": .05}},
		{"c", map[string]float64{"READ": 1}},
		{"d", map[string]float64{"READ": .95, "INSERT": .05}},
		{"e", map[string]float64{"SCAN": .95, "INSERT": .05}},
		{"f", map[string]float64{"READ": 1, "UPDATE": .5, "READ-MODIFY-WRITE": .5}},
		{"a -p readproportion=2 -p updateproportion=1 -p insertproportion=1", map[string]float64{"READ": .5, "UPDATE": .25, "INSERT": .25}},
	} {
		for _, db := range []string{"memcached", "redis"} {
			ops := n
			if c.workload == "e" {
				if ops = n / 10; db == "memcached" {
					continue
				}
			}
			small := " -p fieldlength=1 -p maxscanlength=3 -p recordcount=200 -threads 3"
			f := newFake()
			f.drain(t, threads(t, 0, 1, words2("load "+db+" "+c.workload+small)...)...)
			f.spans = nil
			got := f.drain(t, threads(t, 0, 1, words2(fmt.Sprintf("run %s %s -p operationcount=%d%s", db, c.workload, ops, small))...)...)
			for _, k := range slices.Sorted(maps.Keys(got)) {
				if share := float64(got[k]) / float64(ops); math.Abs(share-c.want[k]) > .01 {
					t.Errorf("%s, %s: share of %s is %.4f, want %.2f", db, c.workload, k, share, c.want[k])
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("%s, %s: %v, want %v", db, c.workload, got, c.want)
			}
		}
	}
}

// The same seed gives the same requests, another one does not; threads differ.
func TestSeeds(t *testing.T) {
	trace := func(line string, thread int) string {
		th := threads(t, 0, 1, words2(line)...)[thread]
		f := newFake()
		var b strings.Builder
		for range 50 {
			op, _, _ := f.step(t, th)
			fmt.Fprintf(&b, "%d %s %s\n", op.Kind, op.Key, op.Value)
		}
		return b.String()
	}
	const line = "run memcached a -p missesfail=false -threads 2"
	one := trace(line, 0)
	if one != trace(line, 0) {
		t.Error("the same seed gives other requests")
	}
	if one == trace(line, 1) {
		t.Error("two threads send the same")
	}
	if one == trace(line+" -p seed=2", 0) {
		t.Error("another seed gives the same requests")
	}
}

// Each record is loaded once, whatever the number of threads, servers and machines; operations are split exactly.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		threads, hosts, parts int
	}{{1, 1, 1}, {7, 1, 1}, {7, 3, 1}, {7, 1, 3}, {8, 3, 3}} {
		line := fmt.Sprintf("memcached c -p recordcount=1001 -p insertstart=11 -p insertcount=907 -p operationcount=1003 -threads %d", c.threads)
		line += " -p memcached.hosts=h0" + strings.Join([]string{"", ",h1", ",h1,h2"}[c.hosts-1:c.hosts], "")
		f := newFake()
		sets, ops := 0, 0
		for part := range c.parts {
			for _, th := range threads(t, part, c.parts, words2("load "+line)...) {
				for {
					op, _, ok := f.step(t, th)
					if !ok {
						break
					}
					if th.job.host(op.Key) != th.host {
						t.Fatalf("%v: %s went to the wrong server", c, op.Key)
					}
					sets++
				}
			}
		}
		if sets != 907 || len(f.values) != 907 {
			t.Errorf("%v: %d inserts of %d records, want 907", c, sets, len(f.values))
		}
		for part := range c.parts {
			ths := threads(t, part, c.parts, words2("run "+line)...)
			for _, th := range ths {
				if n := int(th.left); n != 1003/c.threads && n != 1003/c.threads+1 {
					t.Errorf("%v: a thread has %d operations", c, n)
				}
			}
			got := f.drain(t, ths...)
			ops += got["READ"]
			if len(got) != 1 {
				t.Errorf("%v: %v", c, got)
			}
		}
		if ops != 1003 {
			t.Errorf("%v: %d reads, want 1003", c, ops)
		}
	}
}

// Records that are inserted while others read them: none is missed, none inserted twice, by several servers and machines.
func TestInsertsWhileRunning(t *testing.T) {
	for _, line := range []string{
		"memcached d -threads 6", "memcached d -threads 6 -p memcached.hosts=h0,h1,h2", "redis d -threads 6",
		"memcached d -threads 6 -p requestdistribution=zipfian", "memcached d -threads 6 -p requestdistribution=exponential",
	} {
		for _, parts := range []int{1, 3} {
			line := line + " -p recordcount=300 -p operationcount=6000 -p insertproportion=0.2"
			f := newFake()
			for part := range parts {
				f.drain(t, threads(t, part, parts, words2("load "+line)...)...)
			}
			loaded := len(f.values) + len(f.hashes)
			sum := map[string]int{}
			for part := range parts {
				for k, n := range f.drain(t, threads(t, part, parts, words2("run "+line)...)...) {
					sum[k] += n
				}
			}
			if all := len(f.values) + len(f.hashes); loaded != 300 || all != 300+sum["INSERT"] || sum["INSERT"]+sum["READ"] != 6000 || len(sum) != 2 {
				t.Errorf("%s, %d machines: %d loaded, %d records afterwards, %v", line, parts, loaded, all, sum)
			}
		}
	}
}

// indicesOf are the indices that single reads of a command line go to.
func indicesOf(t *testing.T, n int, line string) []uint64 {
	th := threads(t, 0, 1, words2("run memcached c -p insertorder=ordered -p missesfail=false -p operationcount=1 "+line)...)[0]
	out := make([]uint64, n)
	for i := range out {
		th.pick()
		if _, err := fmt.Sscanf(string(th.plain()), "user%d", &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestDistributions(t *testing.T) {
	const n = 20_000
	share := func(list []uint64, from, to uint64) float64 {
		k := 0
		for _, x := range list {
			if x >= from && x < to {
				k++
			}
		}
		return float64(k) / float64(len(list))
	}
	near := func(what string, got, want, within float64) {
		t.Helper()
		if math.Abs(got-want) > within {
			t.Errorf("%s: %.3f, want %.3f", what, got, want)
		}
	}
	x := indicesOf(t, n, "-p requestdistribution=uniform")
	near("uniform, lower half", share(x, 0, 500), .5, .02)
	x = indicesOf(t, n, "-p requestdistribution=uniform -p insertstart=200 -p insertcount=300")
	near("uniform from 200 to 499", share(x, 200, 500), 1, 0)
	x = indicesOf(t, n, "-p requestdistribution=latest")
	if newest := share(x, 900, 1000); newest < .6 {
		t.Errorf("latest: %.3f of the reads go to the newest tenth", newest)
	}
	if first := share(x, 999, 1000); first < .1 {
		t.Errorf("latest: %.3f of the reads go to the newest record", first)
	}
	x = indicesOf(t, n, "-p requestdistribution=hotspot")
	near("hotspot", share(x, 0, 200), .8, .02)
	x = indicesOf(t, n, "-p requestdistribution=exponential")
	near("exponential", share(x, 1000-857, 1000), .98, .01) // .95 of distances without end
	x = indicesOf(t, 2000, "-p requestdistribution=sequential")
	for i, v := range x {
		if v != uint64(i%1000) {
			t.Fatalf("sequential: %d in place %d", v, i)
		}
	}
	for _, line := range []string{"-p requestdistribution=zipfian", "-p requestdistribution=zipfian -p zipfian=exact"} {
		x = indicesOf(t, n, line)
		count := map[uint64]int{}
		for _, v := range x {
			count[v]++
		}
		hottest := slices.MaxFunc(slices.Collect(maps.Keys(count)), func(a, b uint64) int { return count[a] - count[b] })
		most := float64(count[hottest]) / n
		if len(count) < 900 || hottest < 2 {
			t.Errorf("%s: %d keys, the hottest is %d: not scattered", line, len(count), hottest)
		}
		if want := map[bool]float64{false: .038, true: .13}[strings.Contains(line, "exact")]; math.Abs(most-want) > .015 {
			t.Errorf("%s: the hottest key has %.3f, want %.3f", line, most, want)
		}
	}
}

// What a thread sends, request by request.
func TestRequests(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string // kinds and row of each request and ended spans, of the first operation
	}{
		{"load memcached a", []string{"Set INSERT"}},
		{"load redis a", []string{"HMSET REQUEST-HMSET", "ZADD REQUEST-ZADD +INSERT"}},
		{"load redis a -p redis.index=false", []string{"HMSET INSERT"}},
		{"load redis a -p redis.datatype=string", []string{"Set INSERT"}},
		{"run memcached c", []string{"Get READ"}},
		{"run redis c", []string{"HGETALL READ"}},
		{"run redis c -p readallfields=false", []string{"HMGET READ"}},
		{"run memcached a -p readproportion=0", []string{"Set UPDATE"}},
		{"run memcached a -p readproportion=0 -p memcached.update=merge", []string{"Get REQUEST-GET", "Set REQUEST-SET +UPDATE"}},
		{"run memcached a -p readproportion=0 -p memcached.update=merge -p writeallfields=true", []string{"Set UPDATE"}},
		{"run redis a -p readproportion=0", []string{"HMSET UPDATE"}},
		{"run redis a -p readproportion=0 -p redis.datatype=string", []string{"Get REQUEST-GET", "Set REQUEST-SET +UPDATE"}},
		{"run memcached f -p readproportion=0", []string{"Get READ", "Set UPDATE +READ-MODIFY-WRITE"}},
		{"run redis f -p readproportion=0", []string{"HGETALL READ", "HMSET UPDATE +READ-MODIFY-WRITE"}},
		{"run memcached f -p readproportion=0 -p memcached.update=merge", []string{"Get READ", "Get REQUEST-GET", "Set REQUEST-SET +UPDATE +READ-MODIFY-WRITE"}},
		{"run redis e -p insertproportion=0 -p minscanlength=3 -p maxscanlength=3", []string{"ZRANGEBYSCORE REQUEST-ZRANGEBYSCORE",
			"HGETALL REQUEST-HGETALL", "HGETALL REQUEST-HGETALL", "HGETALL REQUEST-HGETALL +SCAN"}},
	} {
		f := newFake()
		if args := words2(c.line); args[0] == "run" {
			args[0] = "load"
			f.drain(t, threads(t, 0, 1, args...)...)
			f.spans = nil
		}
		th := threads(t, 0, 1, words2(c.line)...)[0]
		// A scan that begins near the end finds less: take one that does not.
		var got []string
		for range 20 {
			got = nil
			for first := true; first || th.Under(); first = false {
				f.spans = nil
				op, r, ok := f.step(t, th)
				if !ok {
					t.Fatalf("%s: no request", c.line)
				}
				kind := map[load.Kind]string{load.Get: "Get", load.Set: "Set"}[op.Kind]
				if op.Kind == load.Command {
					kind = string(op.Args[0])
				}
				if first != (op.Begins&1 == 1) && len(c.want) > 1 {
					t.Errorf("%s: begins %b", c.line, op.Begins)
				}
				line := kind + " " + th.rows.list[r.Row].section
				for _, s := range f.spans {
					line += " +" + th.rows.list[s.Row].section
				}
				got = append(got, line)
			}
			if len(got) == len(c.want) {
				break
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", c.line, got, c.want)
		}
	}
}

// Data that was changed behind the back is found.
func TestIntegrity(t *testing.T) {
	for _, line := range []string{
		"memcached a", "memcached a -p memcached.encoding=compact", "memcached a -p memcached.update=merge",
		"memcached f -p memcached.update=merge -p memcached.encoding=compact", "memcached f -p writeallfields=true",
		"redis a", "redis f", "redis a -p readallfields=false", "redis a -p redis.datatype=string", "redis f -p writeallfields=true",
	} {
		line += " -p dataintegrity=true -p recordcount=50 -p operationcount=2000"
		f := newFake()
		f.drain(t, threads(t, 0, 1, words2("load "+line)...)...)
		if got := f.drain(t, threads(t, 0, 1, words2("run "+line)...)...); got["READ-FAILED"] > 0 || got["UPDATE-FAILED"] > 0 {
			t.Errorf("%s: wrong data without reason: %v", line, got)
		}
		for k, v := range f.values {
			v[len(v)/2] ^= 1
			f.values[k] = v
		}
		for _, h := range f.hashes {
			for k, v := range h {
				h[k] = v[:50] + "!" + v[51:]
			}
		}
		th := threads(t, 0, 1, words2("run "+strings.Replace(strings.Replace(line, " f", " c", 1), " a", " c", 1))...)
		if got := f.drain(t, th...); got["READ"] > 0 || got["READ-FAILED"] != 2000 {
			t.Errorf("%s: wrong data not found: %v", line, got)
		}
	}
}

// A field that is missing is found where a record must be whole; YCSB's replacing updates leave records of one field.
func TestIntegrityWhole(t *testing.T) {
	f := newFake()
	const line = "memcached a -p dataintegrity=true -p recordcount=50 -p operationcount=500"
	f.drain(t, threads(t, 0, 1, words2("load "+line)...)...)
	f.drain(t, threads(t, 0, 1, words2("run "+line)...)...)
	short := 0
	for _, v := range f.values {
		if len(v) < 500 {
			short++
		}
	}
	if short < 25 {
		t.Errorf("%d records were replaced by one field", short)
	}
	got := f.drain(t, threads(t, 0, 1, words2("run "+line+" -p memcached.update=merge -p updateproportion=0")...)...)
	if got["READ-FAILED"] == 0 {
		t.Errorf("records without all fields pass as merged ones: %v", got)
	}
}

// Merging changes one field and keeps the others.
func TestMerge(t *testing.T) {
	for _, enc := range []string{"json", "compact"} {
		line := "memcached a -p readproportion=0 -p recordcount=1 -p operationcount=1 -p memcached.update=merge -p memcached.encoding=" + enc
		f := newFake()
		f.drain(t, threads(t, 0, 1, words2("load "+line)...)...)
		before := fieldsOf(t, f, enc)
		f.drain(t, threads(t, 0, 1, words2("run "+line)...)...)
		after := fieldsOf(t, f, enc)
		same := 0
		for k, v := range before {
			if after[k] == v {
				same++
			}
		}
		if same != 9 || len(after) != 10 {
			t.Errorf("%s: %d of 9 fields kept, %d fields", enc, same, len(after))
		}
	}
}

func fieldsOf(t *testing.T, f *fake, enc string) map[string]string {
	e := jsonText
	if enc == "compact" {
		e = compact
	}
	out := map[string]string{}
	for _, v := range f.values {
		it := e.walk(v)
		for it.next() {
			out[string(it.name)] = string(it.value)
		}
		if it.bad {
			t.Fatalf("%s: %.100q is no record", enc, v)
		}
	}
	return out
}

// Failures count in rows of their own, and what follows of the operation is left out.
func TestFailures(t *testing.T) {
	miss := "-p recordcount=5 -p operationcount=10"
	for _, c := range []struct {
		line string
		want map[string]int
	}{
		{"run memcached c " + miss, map[string]int{"READ-FAILED": 10}},
		{"run memcached c -p reportlatencyforeacherror=true " + miss, map[string]int{"READ-NOT_FOUND": 10}},
		{"run memcached c -p latencytrackederrors=NOT_FOUND " + miss, map[string]int{"READ-NOT_FOUND": 10}},
		{"run memcached c -p missesfail=false " + miss, map[string]int{"READ": 10}},
		{"run redis c " + miss, map[string]int{"READ-FAILED": 10}},
		{"run redis c -p readallfields=false " + miss, map[string]int{"READ-FAILED": 10}},
		{"run redis e -p insertproportion=0 " + miss, map[string]int{"SCAN-FAILED": 10, "REQUEST-ZRANGEBYSCORE": 0}},
		{"run redis e -p insertproportion=0 -p missesfail=false " + miss, map[string]int{"SCAN": 10}},
		{"run memcached a -p readproportion=0 -p memcached.update=merge " + miss, map[string]int{"UPDATE-FAILED": 10}},
	} {
		f := newFake()
		got := f.drain(t, threads(t, 0, 1, words2(c.line)...)...)
		maps.DeleteFunc(c.want, func(_ string, n int) bool { return n == 0 })
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.line, got, c.want)
		}
		if f.counts["SET"] > 0 {
			t.Errorf("%s: %d sets", c.line, f.counts["SET"])
		}
	}
}

// Errors of the server are failures, and inserts that fail are acknowledged: newer records can be read.
func TestServerErrors(t *testing.T) {
	th := threads(t, 0, 1, words2("run memcached d -p readproportion=0")...)[0]
	var op load.Op
	th.Next(&op)
	r := load.Reply{Status: load.Failed, Row: op.Row}
	th.Done(&r)
	if row := th.rows.list[r.Row]; row.section != "INSERT-FAILED" || th.inserts.Acked() != 1001 {
		t.Errorf("row %s, acknowledged to %d", row.section, th.inserts.Acked())
	}
}

func TestNoAllocations(t *testing.T) {
	for _, line := range []string{"memcached a", "memcached a -p dataintegrity=true -p memcached.update=merge", "memcached f -p memcached.encoding=compact"} {
		f := newFake()
		f.drain(t, threads(t, 0, 1, words2("load "+line)...)...)
		th := threads(t, 0, 1, words2("run "+line+" -p operationcount=1000000")...)[0]
		var op load.Op
		var span load.Span
		n := testing.AllocsPerRun(2000, func() {
			op = load.Op{}
			th.Next(&op)
			r := load.Reply{Row: op.Row}
			if op.Kind == load.Get {
				r.Hits, r.Value = 1, f.values[string(op.Key)]
			}
			th.Done(&r)
			for th.Ended(&span) {
			}
		})
		if n > 0 {
			t.Errorf("%s: %.2f allocations per request", line, n)
		}
	}
}
