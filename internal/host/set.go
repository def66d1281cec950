package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Set of CPUs, as the kernel numbers them: ascending, none twice. Its text is that of taskset and the kernel: "0-3,8".
type Set []int

// maxCPU is the highest number that is taken: the kernel's own limit is 8192.
const maxCPU = 1<<16 - 1

// NewSet of the CPUs, in any order.
func NewSet(cpus ...int) Set {
	s := slices.Clone(cpus)
	slices.Sort(s)
	return slices.Compact(s)
}

// ParseSet reads a list like "0-3,8" or, with a stride, "0-31:2". An empty list is an empty set.
func ParseSet(text string) (Set, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Set{}, nil
	}
	var cpus []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, step, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("host: list of CPUs %q: %w", text, err)
		}
		for cpu := from; cpu <= to; cpu += step {
			cpus = append(cpus, cpu)
		}
		if len(cpus) > 4*maxCPU { // ranges on top of each other
			cpus = NewSet(cpus...)
		}
	}
	return NewSet(cpus...), nil
}

func parseRange(part string) (from, to, step int, err error) {
	number := func(s string) int {
		n, e := strconv.ParseUint(s, 10, 31)
		if err == nil && (e != nil || n > maxCPU) {
			err = fmt.Errorf("%q is no CPU from 0 to %d", s, maxCPU)
		}
		return int(n)
	}
	span, stride, strides := strings.Cut(part, ":")
	lo, hi, ranges := strings.Cut(span, "-")
	from, step = number(lo), 1
	if to = from; ranges {
		to = number(hi)
	}
	if strides {
		step = number(stride)
	}
	switch {
	case err != nil:
	case to < from:
		err = fmt.Errorf("%q ends before it begins", part)
	case step < 1 || strides && !ranges:
		err = fmt.Errorf("%q: a stride follows a range and is 1 or more", part)
	}
	return from, to, step, err
}

// String is the list, in the shortest form without strides.
func (s Set) String() string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j+1 < len(s) && s[j+1] == s[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(s[i]))
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(s[j]))
		}
		i = j + 1
	}
	return b.String()
}

// MarshalText is String.
func (s Set) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseSet.
func (s *Set) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSet(string(text))
	return err
}

// Has tells whether the CPU is in the set.
func (s Set) Has(cpu int) bool {
	_, ok := slices.BinarySearch(s, cpu)
	return ok
}

// And is what both have.
func (s Set) And(t Set) Set { return s.filter(t.Has) }

// Without is what t has not.
func (s Set) Without(t Set) Set { return s.filter(func(cpu int) bool { return !t.Has(cpu) }) }

func (s Set) filter(keep func(int) bool) Set {
	out := Set{}
	for _, cpu := range s {
		if keep(cpu) {
			out = append(out, cpu)
		}
	}
	return out
}
