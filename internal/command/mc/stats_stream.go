package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/store"
)

// Conn is what verbs that go on for long ask of their connection. Wake has Feed called soon; any goroutine may call it.
type Conn interface {
	ID() int
	Wake()
}

// long is a verb whose answer takes more than one Feed. While a Text has one, Feed goes to it.
type long interface {
	// next does a part of the work and appends its answer. done: the connection takes requests again.
	next(w *Worker, in []byte, out *bytesx.Out) (used int, v Verdict, done bool)
	// drop ends it early: the connection is gone.
	drop(w *Worker)
}

// begins starts a long verb with its first part.
func (t *Text) begins(w *Worker, l long, out *bytesx.Out) Verdict {
	t.long = l
	_, v := t.goOn(w, nil, out)
	return v
}

// goOn does the next part of the long verb.
func (t *Text) goOn(w *Worker, in []byte, out *bytesx.Out) (used int, v Verdict) {
	used, v, done := t.long.next(w, in, out)
	if done {
		t.long = nil
		if v == More && len(in) > used {
			v = Yield // requests that came meanwhile
		}
	}
	return used, v
}

// A part of a walk ends after so many groups or items: about a millisecond.
const (
	partGroups = 256
	partItems  = 4096
)

// walk shows fn the next part of the store, as long as going says true. more says that it was not the last.
func (w *Worker) walk(at *store.Cursor, fn func(v *store.View), going func() bool) (more bool) {
	items := 0
	see := func(v *store.View) {
		items++
		fn(v)
	}
	for n := 0; n < partGroups && items < partItems && going(); n++ {
		if !w.L.Walk(at, see) {
			return false
		}
	}
	return true
}
