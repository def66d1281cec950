package keys

import (
	"math/bits"
	"testing"
)

// parts fails unless the parts follow each other from low to high.
func parts(t *testing.T, low, high uint64, clients int) {
	t.Helper()
	want, total, carry := low, uint64(0), uint64(0)
	for client := range clients {
		first, last, err := Part(low, high, client, clients)
		if err != nil {
			t.Fatal(err)
		}
		if first != want || last < first || last > high || (client == clients-1) != (last == high) {
			t.Fatalf("%d to %d, client %d of %d: %d to %d, expected from %d on", low, high, client, clients, first, last, want)
		}
		want = last + 1
		if last-first == top {
			return
		}
		requests, err := AllKeys(low, high, client, clients)
		if err != nil || requests != last-first+1 {
			t.Fatalf("%d to %d, client %d of %d: %d requests for all keys, %v", low, high, client, clients, requests, err)
		}
		var c uint64
		total, c = bits.Add64(total, requests, 0)
		carry += c
	}
	if total != high-low+1 || (carry != 0) != (high-low == top) {
		t.Fatalf("%d to %d, %d clients: %d requests for all keys", low, high, clients, total)
	}
}

func TestParts(t *testing.T) {
	for n := uint64(1); n <= 130; n++ {
		for clients := 1; uint64(clients) <= n; clients++ {
			parts(t, 3, 3+n-1, clients)
		}
	}
	for _, c := range [][2]uint64{
		{0, 10_000_000}, {1, 10_000_000}, {0, top}, {1, top}, {5, top - 3}, {top - 999, top}, {0, 1 << 63},
	} {
		for _, clients := range []int{1, 2, 3, 4, 7, 10, 199, 200, 256, 999, 1000} {
			parts(t, c[0], c[1], clients)
		}
	}
}

// Where memtier's rule works it is followed.
func TestPartsOfMemtier(t *testing.T) {
	for _, c := range []struct {
		high            uint64
		client, clients int
		first, last     uint64
	}{
		{9, 0, 2, 0, 4}, {9, 1, 2, 5, 9}, // the example of memtier's own MONITOR output
		{9, 2, 3, 8, 9}, {9, 3, 4, 9, 9},
		{10_000_000, 0, 200, 0, 50_000}, {10_000_000, 199, 200, 9_950_199, 10_000_000},
		{9, 0, 6, 0, 1}, {9, 3, 6, 6, 7}, {9, 4, 6, 8, 8}, {9, 5, 6, 9, 9}, // memtier has nothing for the last one
	} {
		first, last, err := Part(0, c.high, c.client, c.clients)
		if err != nil || first != c.first || last != c.last {
			t.Errorf("%+v: %d to %d, %v", c, first, last, err)
		}
	}
}

func TestPartitionWalks(t *testing.T) {
	seen := map[uint64]int{}
	for client := range 3 {
		x := made(t)(Partition(0, 9, client, 3))
		n, _ := AllKeys(0, 9, client, 3)
		for range n {
			seen[x.Next()]++
		}
	}
	if len(seen) != 10 {
		t.Errorf("all keys are %v", seen)
	}
	if _, err := AllKeys(0, top, 0, 1); err == nil {
		t.Error("2^64 requests have been counted")
	}
}
