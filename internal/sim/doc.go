// Package sim replays traces of requests against caches that hold nothing: it tells what miss ratio the server's eviction
// would have, and what others would, at any size. The policies see ids and sizes of objects and have neither memory for values
// nor a clock; the server's own is package evict, driven through the same steps as the log and the store go through.
//
// From bottom to top: Policy and its kinds (policy.go, one file each), Cache with expiry and counting (cache.go), Source of
// requests from generators (gen.go) and files (read.go), Run over many caches at once (run.go), Find (find.go), and the
// command line (main.go). Package mrc below it has the curve of LRU from samples. cli calls Main; nothing else uses it.
package sim
