package ycsb

import (
	"fmt"
	"os"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load/result"
)

// writeLogs writes a log of histograms for each section, in µs, with an interval per status.interval. Intervals have the
// precision of result.Second.
func (m *summary) writeLogs() error {
	for _, sec := range m.sections {
		if err := m.writeLog(m.hdrPath+sec.name+".hdr", &sec); err != nil {
			return fmt.Errorf("hdrhistogram.fileoutput: %w", err)
		}
	}
	return nil
}

func (m *summary) writeLog(file string, sec *section) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	start := m.run.Start.UnixMilli()
	w := hdrhistogram.NewHistogramLogWriter(f)
	step := max(1, int(m.interval/time.Second))
	for _, head := range []func() error{
		func() error { return w.OutputComment("[Logging for: " + sec.name + "]") },
		w.OutputLogFormatVersion,
		func() error { return w.OutputStartTime(start) },
		w.OutputLegend,
	} {
		if err := head(); err != nil {
			return err
		}
	}
	w.SetBaseTime(start)
	seconds := sec.row.Seconds
	for from := 0; from < len(seconds); from += step {
		h := hdrhistogram.New(1, int64(10*time.Minute/time.Microsecond), 3)
		for _, s := range seconds[from:min(from+step, len(seconds))] {
			addMicros(h, &s)
		}
		h.SetStartTimeMs(start + int64(from)*1000)
		h.SetEndTimeMs(start + int64(min(from+step, len(seconds)))*1000)
		if err := w.OutputIntervalHistogram(h); err != nil {
			return err
		}
	}
	return nil
}

func addMicros(h *hdrhistogram.Histogram, s *result.Second) {
	if s.Service == nil {
		return
	}
	for _, b := range s.Service.Distribution() {
		if b.Count > 0 {
			h.RecordValues(min(micros(b.To), h.HighestTrackableValue()), b.Count)
		}
	}
}
