package mc

import (
	"slices"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
	"godwit/internal/store"
)

// partBytes is how much of a dump is answered at a time. The next part follows when the client has taken this one, so
// that one that does not read costs nothing more.
const partBytes = 64 << 10

// dump lists items: metadump, mgdump, cachedump.
type dump struct {
	w       *Worker
	row     func(d *dump, b []byte, v *store.View, class int) []byte
	classes uint64 // bit c for class c
	end     string
	items   int // still to list at most; 0: all (cachedump)
	bytes   int // still to answer at most; 0: any number

	at   store.Cursor
	full bool
}

func (d *dump) next(w *Worker, _ []byte, out *bytesx.Out) (used int, v Verdict, done bool) {
	d.w = w
	more := w.walk(&d.at, func(v *store.View) { d.item(v, out) }, func() bool {
		// Room for the rows of a usual group: memory should not be asked for under the lock that guards it.
		out.Buf = slices.Grow(out.Buf, partBytes)
		return !d.full && out.Len() < partBytes
	})
	if more && !d.full {
		return 0, Stream, false
	}
	reply(out, d.end)
	return 0, More, true
}

func (d *dump) drop(*Worker) {}

func (d *dump) item(v *store.View, out *bytesx.Out) {
	class := d.w.Store.ClassOf(len(v.Key), v.Len, v.Flags)
	if d.full || d.classes>>class&1 == 0 {
		return
	}
	from := len(out.Buf)
	out.Buf = d.row(d, out.Buf, v, class)
	n := len(out.Buf) - from
	if n == 0 {
		return
	}
	if d.bytes > 0 {
		if d.bytes -= n; d.bytes <= 0 {
			d.full = true
		}
	}
	if d.items > 0 {
		if d.items--; d.items == 0 {
			d.full = true
		}
	}
}

// metadumpRow is a line of metadump; it ends with a space and without a carriage return.
func (d *dump) metadumpRow(b []byte, v *store.View, class int) []byte {
	w := d.w
	b = appendURI(append(b, "key="...), v.Key)
	b = append(b, " exp="...)
	if v.Expiry == 0 {
		b = append(b, "-1"...)
	} else {
		b = bytesx.AppendInt(b, w.Clock.Unix(v.Expiry))
	}
	b = bytesx.AppendInt(append(b, " la="...), w.Clock.Unix(v.Access))
	b = append(b, " cas="...)
	if w.Set.CAS {
		b = bytesx.AppendUint(b, v.CAS)
	} else {
		b = append(b, '0')
	}
	b = append(append(b, " fetch="...), yesNo(v.Marks&store.Fetched != 0)...)
	b = bytesx.AppendUint(append(b, " cls="...), uint64(class))
	b = bytesx.AppendUint(append(b, " size="...), uint64(w.ItemSize(len(v.Key), v.Len, v.Flags)))
	b = bytesx.AppendUint(append(b, " flags="...), uint64(v.Flags))
	return append(b, " \n"...)
}

// mgdumpRow is the command that gets the item.
func (d *dump) mgdumpRow(b []byte, v *store.View, _ int) []byte {
	b = append(b, "mg "...)
	if v.Marks&store.BinaryKey != 0 {
		return append(bytesx.AppendBase64(b, v.Key), " b\r\n"...)
	}
	return append(append(b, v.Key...), "\r\n"...)
}

// cachedumpRow is a line of stats cachedump, which leaves out keys that are not text.
func (d *dump) cachedumpRow(b []byte, v *store.View, _ int) []byte {
	if v.Marks&store.BinaryKey != 0 {
		return b
	}
	b = append(append(b, "ITEM "...), v.Key...)
	b = bytesx.AppendUint(append(b, " ["...), uint64(v.Len))
	b = append(b, " b; "...)
	if v.Expiry == 0 {
		b = append(b, '0')
	} else {
		b = bytesx.AppendInt(b, d.w.Clock.Unix(v.Expiry))
	}
	return append(b, " s]\r\n"...)
}

// statsCachedump is stats cachedump <class> <limit>.
func statsCachedump(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	const (
		notAllowed = "CLIENT_ERROR stats cachedump not allowed\r\n"
		bad        = "CLIENT_ERROR bad command line\r\n"
		badClass   = "CLIENT_ERROR Illegal slab id\r\n"
		most       = 2 << 20 // bytes that memcached answers with
	)
	class, ok1 := mctext.U32(r.Tok(2))
	limit, ok2 := mctext.U32(r.Tok(3))
	switch {
	case !w.Set.DumpEnabled:
		reply(out, notAllowed)
	case r.Len() < 4:
		reply(out, bad)
	case !ok1 || !ok2:
		reply(out, mctext.BadFormat)
	case class > 63:
		reply(out, badClass)
	default:
		d := &dump{row: (*dump).cachedumpRow, classes: 1 << class, end: mctext.End, items: int(limit), bytes: most}
		return t.begins(w, d, out)
	}
	return More
}

// plain are the bytes that a URI takes as they are.
var plain = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~") {
		set[c] = true
	}
	return set
}()

// appendURI appends key with everything else as %XX.
func appendURI(b, key []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, c := range key {
		if plain[c] {
			b = append(b, c)
		} else {
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return b
}
