package mc

import (
	"strings"
	"testing"

	"godwit/internal/bytesx"
)

// hotRequests are what must not allocate, each repeated as in a pipeline.
var hotRequests = map[string]string{
	"get":         "get key:0000000001\r\n",
	"get miss":    "get nokey:00000001\r\n",
	"get 4":       "get key:0000000001 key:0000000001 nokey key:0000000001\r\n",
	"gets":        "gets key:0000000001\r\n",
	"get 70k":     "get large\r\n",
	"set":         "set key:0000000002 0 0 32\r\n" + strings.Repeat("v", 32) + "\r\n",
	"set noreply": "set key:0000000002 5 100 32 noreply\r\n" + strings.Repeat("v", 32) + "\r\n",
	"add":         "add key:0000000001 0 0 1\r\nx\r\n",
	"append":      "set key:0000000002 0 0 2\r\nxx\r\nappend key:0000000002 0 0 2\r\nyy\r\n",
	"cas":         "cas key:0000000001 0 0 1 1\r\nx\r\n",
	"incr":        "incr n 1\r\n",
	"touch":       "touch key:0000000001 100\r\n",
	"delete":      "set key:0000000002 0 0 2\r\nxx\r\ndelete key:0000000002\r\n",
	"mg":          "mg key:0000000001 v s t c f k O123\r\n",
	"mg b":        "mg Zm9v v b k\r\n",
	"ms":          "ms key:0000000002 2 T100 F5 k c O1\r\nxx\r\n",
	"md":          "md nokey q\r\n",
	"ma":          "ma n v t c\r\n",
	"mn":          "mn\r\n",
	"error":       "foo\r\n",
}

func hotWorker(t testing.TB) *Worker {
	w := binWorker(t)
	p := textPipe(w)
	p.write([]byte("set key:0000000001 0 0 32\r\n" + strings.Repeat("v", 32) + "\r\nset n 0 0 20\r\n00000000000000000001\r\n" +
		"ms Zm9v 3 b\r\nabc\r\nset large 0 0 70000\r\n" + strings.Repeat("l", 70000) + "\r\n"))
	return w
}

func TestTextAllocs(t *testing.T) {
	w := hotWorker(t)
	for name, request := range hotRequests {
		if raceEnabled && name == "get 70k" {
			continue // its pin comes from a pool
		}
		in := []byte(strings.Repeat(request, 8))
		var c Text
		var out bytesx.Out
		feed := func() {
			for rest := in; len(rest) > 0; {
				used, _ := c.Feed(w, rest, &out)
				rest = rest[used:]
			}
			out.Reset()
		}
		feed()
		if n := testing.AllocsPerRun(200, feed); n != 0 {
			t.Errorf("%s: %.1f allocations for 8 requests", name, n)
		}
	}
}

func BenchmarkText(b *testing.B) {
	for name, request := range hotRequests {
		b.Run(name, func(b *testing.B) {
			w := hotWorker(b)
			const pipeline = 10
			in := []byte(strings.Repeat(request, pipeline))
			var c Text
			var out bytesx.Out
			b.ReportAllocs()
			for i := 0; i < b.N; i += pipeline {
				for rest := in; len(rest) > 0; {
					used, _ := c.Feed(w, rest, &out)
					rest = rest[used:]
				}
				out.Reset()
			}
		})
	}
}
