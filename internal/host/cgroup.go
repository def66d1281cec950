package host

import (
	"path"
	"strconv"
	"strings"
)

// limits of the control groups that this process is in. Each controller is in one hierarchy, of version 1 or 2; a limit of a
// group holds for those below it, so that the tightest on the way to the root counts.
func (t *tree) limits() (l Limits) {
	l.Allowed = list(fields(t.text("proc/self/status"))["Cpus_allowed_list"])
	mounts := t.mounts()
	for line := range strings.Lines(t.text("proc/self/cgroup")) { // 4:memory:/group, or 0::/group for version 2
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		if f[1] == "" {
			if m, ok := mounts[""]; ok {
				t.climb(m, f[2], func(dir string) { t.unified(&l, dir) })
			}
			continue
		}
		for controller := range strings.SplitSeq(f[1], ",") {
			if m, ok := mounts[controller]; ok {
				t.climb(m, f[2], func(dir string) { t.legacy(&l, controller, dir) })
			}
		}
	}
	return l
}

// list of CPUs; nil if there is none.
func list(text string) Set {
	s, err := ParseSet(text)
	if err != nil || len(s) == 0 {
		return nil
	}
	return s
}

// mount of a hierarchy: root is the group that is seen at the mount point.
type mount struct{ root, point string }

// mounts by controller; "" is version 2.
func (t *tree) mounts() map[string]mount {
	out := map[string]mount{}
	for line := range strings.Lines(t.text("proc/self/mountinfo")) { // 32 31 0:29 root point options tags - type source options
		before, after, ok := strings.Cut(line, " - ")
		b, a := strings.Fields(before), strings.Fields(after)
		if !ok || len(b) < 5 || len(a) < 1 {
			continue
		}
		m := mount{b[3], b[4]}
		switch {
		case a[0] == "cgroup2":
			out[""] = m
		case a[0] == "cgroup" && len(a) > 2:
			for option := range strings.SplitSeq(a[2], ",") {
				out[option] = m
			}
		}
	}
	return out
}

// climb from a group to the root of what is mounted.
func (t *tree) climb(m mount, group string, visit func(dir string)) {
	rel, inside := strings.CutPrefix(group, strings.TrimSuffix(m.root, "/"))
	if !inside { // a group outside of what this container sees: its own is at the mount point
		rel = "/"
	}
	for dir := path.Clean("/" + rel); ; dir = path.Dir(dir) {
		visit(path.Join(m.point, dir))
		if dir == "/" {
			return
		}
	}
}

func (t *tree) unified(l *Limits, dir string) {
	if f := strings.Fields(t.text(dir + "/cpu.max")); len(f) == 2 { // "200000 100000" or "max 100000"
		quota, err1 := strconv.ParseFloat(f[0], 64)
		period, err2 := strconv.ParseFloat(f[1], 64)
		if err1 == nil && err2 == nil && period > 0 {
			l.quota(2, quota/period)
		}
	}
	if n, ok := t.number(dir + "/memory.max"); ok {
		l.memory(2, n)
	}
	l.cpuset(2, t.set(dir+"/cpuset.cpus.effective"))
}

func (t *tree) legacy(l *Limits, controller, dir string) {
	switch controller {
	case "cpu":
		quota, ok := t.number(dir + "/cpu.cfs_quota_us") // -1: none
		period, there := t.number(dir + "/cpu.cfs_period_us")
		if ok && there && quota > 0 && period > 0 {
			l.quota(1, float64(quota)/float64(period))
		}
	case "memory":
		if n, ok := t.number(dir + "/memory.limit_in_bytes"); ok && n < 1<<62 { // nearly 2^63: none
			l.memory(1, n)
		}
	case "cpuset":
		s := t.set(dir + "/cpuset.effective_cpus")
		if len(s) == 0 {
			s = t.set(dir + "/cpuset.cpus")
		}
		l.cpuset(1, s)
	}
}

func (l *Limits) from(version int) {
	if l.Version == 0 || version < l.Version {
		l.Version = version
	}
}

func (l *Limits) quota(version int, cpus float64) {
	l.from(version)
	if l.CPUs == 0 || cpus < l.CPUs {
		l.CPUs = cpus
	}
}

func (l *Limits) memory(version int, bytes int64) {
	l.from(version)
	if l.Memory == 0 || bytes < l.Memory {
		l.Memory = bytes
	}
}

func (l *Limits) cpuset(version int, s Set) {
	if len(s) == 0 {
		return
	}
	l.from(version)
	if l.Cpuset != nil {
		s = s.And(l.Cpuset)
	}
	l.Cpuset = s
}
