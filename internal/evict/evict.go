// Package evict decides what a full cache gives up: S3-FIFO (SOSP'23) over segments instead of items. It is plain
// arithmetic and a table of fingerprints: no items, no locks, no clock. The log asks it which queue to shorten, the store
// asks it what becomes of an item at the end of a queue, and package sim can drive it with traces.
//
// New items enter the small queue. At its end an item that was read since goes on to the main queue, the others leave and
// are remembered as ghosts. At the end of main an item whose counter is not zero gets another round with the counter lowered
// by one. A key that returns while its ghost is known enters main at once. A fixed size of the small queue fails when the
// hot set moves, so its share grows whenever the hit ratio falls, and shrinks again slowly (docs/decisions/0002).
package evict

import "math"

// Queue of a segment.
type Queue uint8

const (
	Small Queue = iota
	Main
	Queues // how many there are
)

// Policy is S3-FIFO's state. The caller serializes its methods.
type Policy struct {
	share float64 // of the small queue in all evictable bytes
	gets  int64
	hits  int64
	ratio float64 // of the period before
}

const (
	restShare = 0.06
	maxShare  = 0.90
	growStep  = 0.15
	restStep  = 0.02
)

// New policy.
func New() *Policy { return &Policy{share: restShare} }

// Share of the small queue at present, 0 to 1.
func (p *Policy) Share() float64 { return p.share }

// Note counts requests and hits since the last call. Once there were as many requests as the cache has items, it looks at
// the hit ratio. A fall by more than chance explains means that the hot set moves: recency counts for more, the small queue
// grows by a step. While nothing falls it shrinks slowly to where it is best for a steady load.
func (p *Policy) Note(gets, hits, items int64) {
	p.gets += gets
	p.hits += hits
	if p.gets < max(items, 1000) {
		return
	}
	r := float64(p.hits) / float64(p.gets)
	if r < p.ratio-3*math.Sqrt(2*r*(1-r)/float64(p.gets)) {
		p.share = min(p.share+growStep, maxShare)
	} else {
		p.share = max(p.share-restStep, restShare)
	}
	p.ratio, p.gets, p.hits = r, 0, 0
}

// From is the queue to shorten, given the bytes in each.
func (p *Policy) From(bytes [Queues]int64) Queue {
	if bytes[Main] == 0 || float64(bytes[Small]) > p.share*float64(bytes[Small]+bytes[Main]) {
		return Small
	}
	return Main
}

// Fate of an item at the end of its queue: keep says whether it goes to the front of main, with counter next.
func Fate(q Queue, ctr uint64) (keep bool, next uint64) {
	if ctr == 0 {
		return false, 0
	}
	if q == Small {
		return true, 0
	}
	return true, ctr - 1
}
