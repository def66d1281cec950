package config

import (
	"slices"
	"strings"
)

// parser is the state of one command line.
type parser struct {
	m                                              *Memcached
	tcpGiven, udpGiven, protocolGiven, listenGiven bool
	chunkMaxGiven, slabSizesGiven, valueGiven      bool
	usage                                          func(*Memcached) string // Usage, which reads the table that the parser is called from
	slabSizes                                      string
	warnings                                       strings.Builder // see Memcached.Warnings; they come before an error
	told                                           []*Row          // settings without effect, each once
}

var (
	byShort = map[byte]*Row{}
	byLong  = map[string]*Row{}
	byWord  = map[string]*Row{}
)

func init() {
	for i := range options {
		if r := &options[i]; r.Short != 0 {
			byShort[r.Short] = r
		}
		if r := &options[i]; r.Long != "" {
			byLong[r.Long] = r
		}
	}
	for i := range words {
		byWord[words[i].Long] = &words[i]
	}
}

// ParseMemcached reads memcached's command line (without the program's name, which only error texts need). It returns
// the settings, or how to exit instead of starting.
func ParseMemcached(prog string, args []string) (*Memcached, *Exit) {
	return Parse(Defaults(), prog, args)
}

// Parse is ParseMemcached with defaults of the caller's, which it changes.
func Parse(m *Memcached, prog string, args []string) (*Memcached, *Exit) {
	p := &parser{m: m, usage: Usage}
	exit := p.options(prog, args)
	if exit == nil {
		exit = p.check()
	}
	if exit != nil {
		exit.Stderr = p.warnings.String() + exit.Stderr
		return nil, exit
	}
	m.Warnings, m.Notices = p.warnings.String(), nil
	for _, r := range p.told {
		m.Notices = append(m.Notices, r.Name()+" has no effect: "+r.NoEffect)
	}
	return m, nil
}

func (p *parser) options(prog string, args []string) *Exit {
	g := getopt{prog: prog, args: args}
	for {
		row, arg, done := g.next()
		if done {
			return nil
		}
		if row == nil {
			return &Exit{Code: 1, Stderr: g.msg + "Illegal argument \"?\"\n"}
		}
		if exit := row.set(p, strings.TrimLeft(arg, spaces)); exit != nil {
			return exit
		}
		p.tell(row)
	}
}

// extended reads the argument of -o: words with or without a value, separated by commas.
func (p *parser) extended(list string) *Exit {
	for list != "" {
		var word string
		word, list, _ = strings.Cut(list, ",")
		name, value, given := strings.Cut(word, "=")
		row := byWord[name]
		if row == nil {
			return bad(1, "Illegal suboption %s", `"`+word+`"`)
		}
		if row.Arg == Required && !given {
			return bad(1, "%s", row.Missing)
		}
		p.valueGiven = given
		if exit := row.set(p, value); exit != nil {
			return exit
		}
		p.tell(row)
	}
	return nil
}

func (p *parser) tell(r *Row) {
	if r.NoEffect != "" && !r.Quiet && !slices.Contains(p.told, r) {
		p.told = append(p.told, r)
	}
}

// check looks at the settings together, in memcached's order.
func (p *parser) check() *Exit {
	m := p.m
	if m.NapiIDs > m.Threads {
		return bad(ExitUsage, "Number of napi_ids(%d) cannot be greater than number of threads(%d)", m.NapiIDs, m.Threads)
	}
	if exit := p.checkSizes(); exit != nil {
		return exit
	}
	if p.slabSizesGiven {
		if exit := p.parseSlabSizes(); exit != nil {
			return exit
		}
	}
	if m.HotPct+m.WarmPct > 80 {
		return bad(ExitUsage, "hot_lru_pct + warm_lru_pct cannot be more than 80%% combined")
	}
	if m.TempLRU && !m.Maintainer {
		return bad(ExitUsage, "temporary_ttl requires lru_maintainer to be enabled")
	}
	if exit := p.checkProtocols(); exit != nil {
		return exit
	}
	if p.udpGiven && m.UDPPort != 0 && !p.tcpGiven {
		m.Port = m.UDPPort
	}
	if m.Port > 65535 {
		return bad(ExitUsage, "ERROR: Invalid port number %d.", m.Port)
	}
	if m.TLS && m.Port == 0 {
		return bad(ExitUsage, "ERROR: You cannot enable SSL without a TCP port.")
	}
	if p.listenGiven && m.Socket == "" {
		return p.parseListen()
	}
	return nil
}

func (p *parser) checkSizes() *Exit {
	m := p.m
	switch {
	case m.ItemSizeMax < 1<<10:
		return bad(ExitUsage, "Item max size cannot be less than 1024 bytes.")
	case m.ItemSizeMax > m.MaxBytes/2:
		return bad(ExitUsage, "Cannot set item size limit higher than 1/2 of memory max.")
	case m.ItemSizeMax > 1<<30:
		return bad(ExitUsage, "Cannot set item size limit higher than a gigabyte.")
	}
	if m.ItemSizeMax > 1<<20 && !p.chunkMaxGiven {
		m.SlabChunkMax = slabPage / 2
	}
	switch {
	case int64(m.SlabChunkMax) > m.ItemSizeMax:
		return bad(ExitUsage, "slab_chunk_max (bytes: %d) cannot be larger than -I (item_size_max %d)", m.SlabChunkMax, m.ItemSizeMax)
	case m.ItemSizeMax%int64(m.SlabChunkMax) != 0:
		return bad(ExitUsage, "-I (item_size_max: %d) must be evenly divisible by slab_chunk_max (bytes: %d)", m.ItemSizeMax, m.SlabChunkMax)
	case slabPage%m.SlabChunkMax != 0:
		return bad(ExitUsage, "slab_chunk_max (bytes: %d) must divide evenly into %d (slab_page_size)", m.SlabChunkMax, slabPage)
	}
	return nil
}

// maxSlabClasses and slabAlign are memcached's.
const (
	maxSlabClasses = 64
	slabAlign      = 8
)

func (p *parser) parseSlabSizes() *Exit {
	if p.slabSizes == "" {
		return &Exit{Code: ExitUsage}
	}
	last := uint32(0)
	for _, word := range strings.Split(p.slabSizes, "-") {
		if word == "" {
			continue
		}
		size, ok := u32(word)
		switch {
		case !ok || int64(size) < int64(p.m.ChunkSize) || int64(size) > int64(p.m.SlabChunkMax):
			return bad(ExitUsage, "slab size %d is out of valid range", size)
		case last >= size:
			return bad(ExitUsage, "slab size %d cannot be lower than or equal to a previous class size", size)
		case size <= last+slabAlign:
			return bad(ExitUsage, "slab size %d must be at least %d bytes larger than previous class", size, slabAlign)
		}
		p.m.SlabSizes = append(p.m.SlabSizes, int(size))
		last = size
		if len(p.m.SlabSizes) >= maxSlabClasses-1 {
			return bad(ExitUsage, "too many slab classes specified")
		}
	}
	return nil
}

func (p *parser) checkProtocols() *Exit {
	m := p.m
	if m.SASL {
		if !p.protocolGiven {
			m.Protocol = Binary
		}
		if m.Protocol != Binary {
			return bad(ExitUsage, "ERROR: You cannot allow the ASCII protocol while using SASL.")
		}
		if m.UDPPort != 0 {
			return bad(ExitUsage, "ERROR: Cannot enable UDP while using binary SASL authentication.")
		}
	}
	if m.AuthFile != "" {
		if !p.protocolGiven {
			m.Protocol = ASCII
		}
		if m.Protocol != ASCII {
			return bad(ExitUsage, "ERROR: You cannot allow the BINARY protocol while using ascii authentication tokens.")
		}
	}
	return nil
}
