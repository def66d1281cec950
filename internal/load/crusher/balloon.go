package crusher

import (
	"context"
	"fmt"
	"io"
	"runtime"
)

// balloonPage is how far apart the bytes are that are touched: no page of any machine is smaller.
const balloonPage = 4096

// balloon takes memory and keeps it.
func balloon(ctx context.Context, prog string, args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		return refuse(stderr, prog, fmt.Errorf("%d arguments, not 1 (%s MB, such as 4096)", len(args), prog))
	}
	mb, p := parse(args[0], 1, 1<<24)
	if p != nil {
		return refuse(stderr, prog, fmt.Errorf("MB %s: %s (%s)", args[0], p.Cause, p.Mend))
	}
	var held [][]byte
	for range mb {
		if ctx.Err() != nil {
			return exitInterrupted
		}
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += balloonPage {
			b[i] = 1
		}
		held = append(held, b)
	}
	fmt.Fprintf(stdout, "%d MB taken; ctrl-C gives them back\n", mb)
	<-ctx.Done()
	runtime.KeepAlive(held)
	return 0
}
