package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// cmdLRUCrawler knows no crawler yet.
func cmdLRUCrawler(_ *Text, _ *Worker, _ *mctext.Request, out *bytesx.Out) Verdict {
	reply(out, mctext.CrawlerOff)
	return More
}
