package stats

// fields are all counters, in a fixed order: sums and differences are loops over them.
func (c *Counters) fields() [20]*uint64 {
	return [...]*uint64{
		&c.CmdFlush, &c.CmdTouch, &c.CmdMeta, &c.GetMisses, &c.GetExpired, &c.GetFlushed, &c.DeleteMisses, &c.IncrMisses,
		&c.DecrMisses, &c.CasMisses, &c.TouchMisses, &c.StoreTooLarge, &c.StoreNoMemory, &c.AuthCmds, &c.AuthErrors,
		&c.BytesRead, &c.BytesWritten, &c.ConnYields, &c.IdleKicks, &c.ResponseObjOOM,
	}
}

func (c *Class) fields() [8]*uint64 {
	return [...]*uint64{
		&c.GetHits, &c.SetCmds, &c.DeleteHits, &c.IncrHits, &c.DecrHits, &c.CasHits, &c.CasBadval, &c.TouchHits,
	}
}

// Add adds the counters of o.
func (c *Counters) Add(o *Counters) {
	to, from := c.fields(), o.fields()
	for i := range to {
		*to[i] += *from[i]
	}
}

// Sub takes the counters of o away.
func (c *Counters) Sub(o *Counters) {
	to, from := c.fields(), o.fields()
	for i := range to {
		*to[i] -= *from[i]
	}
}

// Add adds the counters of o.
func (c *Class) Add(o *Class) {
	to, from := c.fields(), o.fields()
	for i := range to {
		*to[i] += *from[i]
	}
}

// Sub takes the counters of o away.
func (c *Class) Sub(o *Class) {
	to, from := c.fields(), o.fields()
	for i := range to {
		*to[i] -= *from[i]
	}
}
