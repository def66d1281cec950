package store

// addresses is how much address space the log sets aside for a limit: what cache_memlimit may later raise it to. It costs
// nothing until it is touched.
func addresses(limit int64) int64 {
	const unit = 1 << maxSegment
	n := max(2*limit, min(physicalMemory()*2, 64*limit))
	return (min(n, 1<<40) + 16*unit) &^ (unit - 1)
}
