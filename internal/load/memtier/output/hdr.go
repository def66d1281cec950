package output

import (
	"bufio"
	"fmt"
	"io"
	"math/bits"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load/result"
)

// File is one to be written.
type File struct {
	Path    string
	Message string // for stderr, without line end
	Write   func(io.Writer) error
}

// HDRFiles are the files of --hdr-file-prefix for run n, counted from 1: of all requests and of each row that has any, as
// percentiles in ms and as a histogram log.
func HDRFiles(prefix string, rep *Report, n int) []File {
	run := rep.Runs[n-1]
	s := rep.section("", rep.Runs[n-1:n])
	var out []File
	add := func(path, what string, h *hdrhistogram.Histogram) {
		what += " command HDR latency histogram results"
		out = append(out,
			File{path + ".txt", fmt.Sprintf("Writing %s to %s.txt...", what, path), func(w io.Writer) error { return hdrText(w, h) }},
			File{path + ".hgrm", fmt.Sprintf("Writing %s in HistogramLogProcessor format to %s.hgrm...", what, path),
				func(w io.Writer) error { return hdrLog(w, what, run.Start, run.End, h) }})
	}
	add(fmt.Sprintf("%s_FULL_RUN_%d", prefix, n), "Full Run", s.total.Service)
	for i := range s.rows {
		if r := &s.rows[i]; r.Count > 0 {
			name := strings.Map(fileRune, r.key)
			add(fmt.Sprintf("%s_%s_command_run_%d", prefix, name, n), r.key, r.Service)
		}
	}
	return out
}

// fileRune keeps the words of commands from leading out of the directory.
func fileRune(r rune) rune {
	if r < ' ' || r == '/' || r == '\\' {
		return '_'
	}
	return r
}

// hdrText is the classic print of percentiles, in ms with as many decimals as the histogram has digits.
func hdrText(w io.Writer, h *hdrhistogram.Histogram) error {
	b := bufio.NewWriter(w)
	if h == nil {
		h = result.NewHistogram()
	}
	digits := int(h.SignificantFigures())
	fmt.Fprintf(b, "%12s %12s %12s %s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	for _, x := range ladder(h) {
		away := "inf"
		if x.Quantile < 100 {
			away = fmt.Sprintf("%.2f", 1/(1-x.Quantile/100))
		}
		fmt.Fprintf(b, "%12.*f %12f %12d %12s\n", digits, ms(x.ValueAt), x.Quantile/100, x.Count, away)
	}
	fmt.Fprintf(b, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", finite(h.Mean()/1e6), finite(h.StdDev()/1e6))
	fmt.Fprintf(b, "#[Max     = %12.3f, Total count    = %12d]\n", ms(h.Max()), h.TotalCount())
	steps := 2 // of a bucket: a power of two that tells twice 10^digits values apart
	for range digits {
		steps *= 10
	}
	steps = 1 << bits.Len(uint(steps-1))
	fmt.Fprintf(b, "#[Buckets = %12d, SubBuckets     = %12d]\n", len(h.Export().Counts)*2/steps-1, steps)
	return b.Flush()
}

// hdrLog is a histogram log of one interval. Its third field and the histogram are in µs, and its second is the end, not
// the length, as memtier_benchmark has it.
func hdrLog(w io.Writer, what string, from, to time.Time, h *hdrhistogram.Histogram) error {
	begin := seconds(from)
	_, err := fmt.Fprintf(w, "#[%s]\n#[Histogram log format version 1.2]\n#[StartTime: %s (seconds since epoch), %s]\n"+
		"\"StartTimestamp\",\"EndTimestamp\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n%s,%s,%.1f,%s\n",
		what, begin, from.UTC().Format("Mon Jan 15:04:05 GMT 2006"), begin, seconds(to), float64(micro(h).Max()), compressed(h))
	return err
}

func seconds(t time.Time) string {
	ms := millis(t.UnixMilli())
	return fmt.Sprintf("%d.%03d", ms/1000, ms%1000)
}
