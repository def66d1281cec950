package mc

import (
	"maps"
	"slices"
	"strconv"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
	"godwit/internal/store"
)

// sizeStep is the width of the size classes of stats sizes, in bytes.
const sizeStep = 32

// sizes counts items by their size. They are counted when somebody asks, over the whole store: -o track_sizes allows
// asking and costs nothing else.
type sizes struct {
	at store.Cursor
	n  map[int]int
}

// some counts a part of the store; more says that it was not the last.
func (s *sizes) some(w *Worker) (more bool) {
	return w.walk(&s.at, func(v *store.View) {
		s.n[(w.ItemSize(len(v.Key), v.Len, v.Flags)+sizeStep-1)/sizeStep*sizeStep]++
	}, func() bool { return true })
}

func (s *sizes) emit(e emitter) {
	for _, size := range slices.Sorted(maps.Keys(s.n)) {
		e.int(strconv.Itoa(size), int64(s.n[size]))
	}
}

// next counts on until all is counted, then answers.
func (s *sizes) next(w *Worker, _ []byte, out *bytesx.Out) (used int, v Verdict, done bool) {
	if s.some(w) {
		return 0, Stream, false
	}
	s.emit(textStats(out))
	reply(out, mctext.End)
	return 0, More, true
}

func (s *sizes) drop(*Worker) {}

func sizesOff(w *Worker, e emitter) bool {
	if !w.Set.TrackSizes {
		e("sizes_status", "disabled")
	}
	return !w.Set.TrackSizes
}

// statsSizes is stats sizes.
func statsSizes(t *Text, w *Worker, _ *mctext.Request, out *bytesx.Out) Verdict {
	if sizesOff(w, textStats(out)) {
		reply(out, mctext.End)
		return More
	}
	return t.begins(w, &sizes{n: map[int]int{}}, out)
}

// statsSizesAtOnce is stats sizes for the binary protocol, which answers at once.
func (w *Worker) statsSizesAtOnce(e emitter) {
	if sizesOff(w, e) {
		return
	}
	s := sizes{n: map[int]int{}}
	for s.some(w) {
	}
	s.emit(e)
}
