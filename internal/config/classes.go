package config

// Classes are the chunk sizes of memcached's slab classes under these settings, ascending; class i+1 has the size at i.
// Memory is not cut into them here: items are counted by them, because that is what operators' tools show.
func (m *Memcached) Classes() []int {
	const itemHeader = 48
	var sizes []int
	if len(m.SlabSizes) > 0 {
		for _, s := range m.SlabSizes {
			sizes = append(sizes, align(s))
		}
	} else {
		for size := itemHeader + m.ChunkSize; len(sizes) < maxSlabClasses-2 && float64(size) < float64(m.SlabChunkMax)/m.GrowthFactor; {
			size = align(size)
			sizes = append(sizes, size)
			size = int(float64(size) * m.GrowthFactor)
		}
	}
	return append(sizes, m.SlabChunkMax)
}

func align(n int) int { return (n + slabAlign - 1) &^ (slabAlign - 1) }

// PerSlab is the number of chunks that memcached puts into a page of a class.
func PerSlab(chunk int) int { return slabPage / chunk }
