package host

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// rapl is the source of what the processor counts itself: running average power limit, by Linux's powercap. It is there on
// Intel since Sandy Bridge and AMD since Zen, and never on arm; reading it takes root since Linux 5.10 (CVE-2020-8694).
const rapl = "rapl"

// Energy that one part of the machine used since the Meter began.
type Energy struct {
	Zone   string  `json:"zone"` // package-0, package-0/dram, psys
	Joules float64 `json:"joules"`
	Source string  `json:"source"`
}

// zone of RAPL: a counter in microjoules that wraps around.
type zone struct {
	name, file string
	wrap       uint64 // the largest value, microjoules
	last       uint64
	begun      bool
	total      uint64 // microjoules since the first reading
}

// zones of packages, their memory and the whole platform. The others (core, uncore) are parts of their package; those of
// intel-rapl-mmio are the same packages once more.
func (t *tree) zones() (out []*zone) {
	packages := map[string]string{}
	dirs := t.glob("sys/class/powercap/intel-rapl:*")
	slices.SortFunc(dirs, func(a, b string) int { return strings.Count(path.Base(a), ":") - strings.Count(path.Base(b), ":") })
	for _, dir := range dirs {
		name, base := t.text(dir+"/name"), path.Base(dir)
		parent := base[:strings.LastIndex(base, ":")]
		switch {
		case strings.HasPrefix(name, "package"):
			packages[base] = name
		case name == "dram":
			if p := packages[parent]; p != "" {
				name = p + "/dram"
			}
		case name != "psys":
			continue
		}
		wrap, err := strconv.ParseUint(t.text(dir+"/max_energy_range_uj"), 10, 64)
		if err != nil {
			continue
		}
		out = append(out, &zone{name: name, file: dir + "/energy_uj", wrap: wrap})
	}
	return out
}

// read the counter and add what it moved.
func (z *zone) read(t *tree) (Energy, bool) {
	now, err := strconv.ParseUint(t.text(z.file), 10, 64)
	if err != nil {
		return Energy{}, false
	}
	if z.begun {
		z.total += moved(z.last, now, z.wrap)
	}
	z.last, z.begun = now, true
	return Energy{z.name, float64(z.total) / 1e6, rapl}, true
}

// moved is how far a counter went that starts again at 0 after wrap.
func moved(from, to, wrap uint64) uint64 {
	if to >= from {
		return to - from
	}
	return to + 1 + wrap - min(from, wrap)
}
