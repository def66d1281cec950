package crusher

import (
	"bufio"
	"context"
	"io"
	"strconv"

	"godwit/internal/load/keys"
)

// zipfDraws is how many numbers --zipf-n prints: as many as mc-crusher.
const zipfDraws = 10_000_000

// zipf prints draws, to see what zipf_skew does: ... | sort -n | uniq -c.
func zipf(ctx context.Context, o *options, stdout io.Writer) int {
	t := defaults()
	t.KeyCount, t.LiveRandZipf, t.ZipfSkew = o.zipfN, true, o.zipfS
	x, err := t.indices(nil)
	if err != nil {
		return exitUsage
	}
	x.Seed(o.seed, keys.Stream(0, keys.Reads))
	w := bufio.NewWriterSize(stdout, 1<<16)
	var b []byte
	for i := range zipfDraws {
		if i&0xffff == 0 && ctx.Err() != nil {
			return exitInterrupted
		}
		b = append(strconv.AppendUint(b[:0], x.Next(), 10), '\n')
		if _, err := w.Write(b); err != nil {
			return exitFailed // head, or another reader that has enough
		}
	}
	if w.Flush() != nil {
		return exitFailed
	}
	return 0
}
