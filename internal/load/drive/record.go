package drive

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load"
	"godwit/internal/load/result"
)

// recorder counts the present second of one loop. Its loop owns it until the second is over, the collector afterwards.
type recorder struct {
	rows  []rowRecorder
	late  *hdrhistogram.Histogram // nil: closed loop
	lost  uint64
	busy  float64 // of the loop, if full
	full  bool    // a whole second
	texts map[string]uint64
}

type rowRecorder struct {
	result.Counts
	sum     int64
	service *hdrhistogram.Histogram
	planned *hdrhistogram.Histogram // nil: closed loop
}

func newRecorder(rows int, open bool) *recorder {
	rec := &recorder{rows: make([]rowRecorder, rows), texts: map[string]uint64{}}
	for i := range rec.rows {
		rec.rows[i].service = result.NewHistogram()
		if open {
			rec.rows[i].planned = result.NewHistogram()
		}
	}
	if open {
		rec.late = result.NewHistogram()
	}
	return rec
}

func (rec *recorder) reset() {
	for i := range rec.rows {
		r := &rec.rows[i]
		r.Counts, r.sum = result.Counts{}, 0
		r.service.Reset()
		if r.planned != nil {
			r.planned.Reset()
		}
	}
	if rec.late != nil {
		rec.late.Reset()
	}
	rec.lost, rec.busy, rec.full = 0, 0, false
	clear(rec.texts)
}

// reply counts the answer, rx bytes long, to a request.
func (rec *recorder) reply(f *flight, r *load.Reply, now int64, rx int) {
	row := &rec.rows[r.Row]
	if r.Again {
		row.Statuses[r.Status]++
		row.RX += uint64(rx)
		row.TX += uint64(f.tx)
		return
	}
	row.Count++
	row.Keys += uint64(f.keys)
	row.Hits += uint64(r.Hits)
	row.Misses += uint64(r.Misses)
	row.Statuses[r.Status]++
	row.RX += uint64(rx)
	row.TX += uint64(f.tx)
	row.latency(rec, f, now)
	if r.Status > load.NotStored {
		rec.text(r)
	}
}

// latency notes how long a request took, or has taken so far.
func (row *rowRecorder) latency(rec *recorder, f *flight, now int64) {
	t := now - f.sent
	row.sum += t
	row.service.RecordValue(result.Clamp(t))
	if f.planned != 0 {
		row.planned.RecordValue(result.Clamp(now - f.planned))
		if !f.goes {
			rec.late.RecordValue(result.Clamp(f.sent - f.planned))
		}
	}
}

// span counts an operation of several requests. Their bytes and keys are counted with them.
func (rec *recorder) span(s *load.Span, m mark, now int64) {
	row := &rec.rows[s.Row]
	row.Count++
	row.Hits += uint64(s.Hits)
	row.Misses += uint64(s.Misses)
	row.Statuses[s.Status]++
	row.latency(rec, &flight{sent: m.sent, planned: m.planned, goes: true}, now)
}

// lose counts a request that will not be answered.
func (rec *recorder) lose(f *flight, now int64) {
	rec.lost++
	rec.rows[f.row].latency(rec, f, now)
}

// silent counts a request whose answer nobody looks at.
func (rec *recorder) silent(f *flight) {
	row := &rec.rows[f.row]
	row.Count++
	row.Keys += uint64(f.keys)
	row.Statuses[load.OK]++
	row.TX += uint64(f.tx)
}

// mostTexts is how many different error texts are kept.
const mostTexts = 64

func (rec *recorder) text(r *load.Reply) {
	if r.Status == load.Mismatch {
		rec.note("the value is not the one that was stored")
		return
	}
	rec.note(string(r.Text))
}

func (rec *recorder) note(text string) { count(rec.texts, text, 1) }

func count(m map[string]uint64, text string, n uint64) {
	if _, ok := m[text]; !ok && len(m) >= mostTexts {
		text = "other errors"
	}
	m[text] += n
}
