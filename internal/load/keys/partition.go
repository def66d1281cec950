package keys

import (
	"fmt"
	"math"
)

// Partition walks the part of a client (memtier P): see Part. It starts at the head of its part and wraps at its end.
func Partition(low, high uint64, client, clients int) (Indices, error) {
	first, last, err := Part(low, high, client, clients)
	if err != nil {
		return Indices{}, err
	}
	return Sequential(first, last, first)
}

// Part gives the part of low ... high that is client's, counted from 0: contiguous, disjoint with the others', and together
// they are the whole. As in memtier all have floor((high-low)/clients)+1 indices and the last takes what is left. Where this
// would leave clients without any, which memtier does not notice, the first ones have one index more than the others.
func Part(low, high uint64, client, clients int) (first, last uint64, err error) {
	if low > high {
		return 0, 0, fmt.Errorf("keys: minimum %d: above the maximum %d (swap them)", low, high)
	}
	if clients < 1 || client < 0 || client >= clients {
		return 0, 0, fmt.Errorf("keys: partition client %d: there are %d (count from 0)", client, clients)
	}
	i, n, span := uint64(client), uint64(clients), high-low
	if n-1 > span {
		return 0, 0, fmt.Errorf("keys: partition clients %d: more than the %d keys of %d to %d (fewer clients or more keys)",
			clients, span+1, low, high)
	}
	if n == 1 {
		return low, high, nil
	}
	block := span/n + 1 // no overflow: n is at least 2
	if span/block >= n-1 {
		first = low + i*block
		if client == clients-1 {
			return first, high, nil
		}
		return first, first + block - 1, nil
	}
	// Here block*(n-1) is above span: n is large and the number of keys, span+1, is no multiple of it.
	small, more := span/n, span%n+1 // span+1 = small*n + more, 0 < more <= n
	first = low + i*small + min(i, more)
	last = first + small - 1
	if i < more {
		last++
	}
	return first, last, nil
}

// AllKeys is the number of requests by which a client of Partition visits each index of its part once. The sum over the
// clients is high-low+1 (memtier's --requests allkeys is one short of it).
func AllKeys(low, high uint64, client, clients int) (requests uint64, err error) {
	first, last, err := Part(low, high, client, clients)
	if err != nil {
		return 0, err
	}
	if last-first == math.MaxUint64 {
		return 0, fmt.Errorf("keys: all keys of %d to %d: 2^64 are too many to count (more clients or fewer keys)", low, high)
	}
	return last - first + 1, nil
}
