package memtier

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"godwit/internal/load/codec"
)

// setter takes the value of an option. The text of its error is cause and mend.
type setter func(o *Options, r *row, arg string) error

type field[T any] func(o *Options) *T

func setNothing(*Options, *row, string) error { return nil }

func to[T any](f field[T], v T) setter {
	return func(o *Options, _ *row, _ string) error { *f(o) = v; return nil }
}

func text(f field[string]) setter {
	return func(o *Options, _ *row, arg string) error {
		if arg == "" && f(o) != &o.KeyPrefix {
			return errors.New("is empty; give a value or leave the option out")
		}
		*f(o) = arg
		return nil
	}
}

// word is one of a few.
func word[T ~string](f field[T], words ...T) setter {
	return func(o *Options, _ *row, arg string) error {
		w, err := oneOf(T(arg), words...)
		if err == nil {
			*f(o) = w
		}
		return err
	}
}

// oneOf returns the word that is arg, or else the first.
func oneOf[T ~string](arg T, words ...T) (T, error) {
	list := ""
	for i, w := range words {
		if w == arg {
			return w, nil
		}
		switch {
		case i > 0 && i == len(words)-1:
			list += " or "
		case i > 0:
			list += ", "
		}
		list += string(w)
	}
	return words[0], fmt.Errorf("is none of the words known; use %s", list)
}

// number is a whole one within the bounds of the row.
func number[T int | uint64](f field[T]) setter {
	return func(o *Options, r *row, arg string) error {
		v, err := whole(arg, r.Lo, r.Hi)
		if err == nil {
			*f(o) = T(v)
		}
		return err
	}
}

// whole reads a whole number from lo to hi, none of which is negative. As with strtoul, spaces before it are skipped.
func whole(arg string, lo, hi int64) (int64, error) {
	digits := strings.TrimPrefix(strings.TrimLeft(arg, " \t\n\v\f\r"), "+")
	v, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && v > uint64(hi):
		return 0, fmt.Errorf("is too much; use %d to %d", lo, hi)
	case err != nil && strings.HasPrefix(digits, "-"):
		if _, err := strconv.ParseInt(digits, 10, 64); err == nil {
			return 0, fmt.Errorf("is too little; use %d to %d", lo, hi)
		}
		fallthrough
	case err != nil:
		return 0, fmt.Errorf("is not a whole number; use %d to %d", lo, hi)
	case int64(v) < lo:
		return 0, fmt.Errorf("is too little; use %d to %d", lo, hi)
	}
	return int64(v), nil
}

// decimal is a number between lo and hi. loIn and hiIn: they are allowed too.
func decimal(f field[float64], lo, hi float64, loIn, hiIn bool) setter {
	return func(o *Options, r *row, arg string) error {
		v, err := finite(arg)
		switch {
		case err != nil:
			return fmt.Errorf("is not a number; use %s", r.bounds())
		case v < lo || v == lo && !loIn:
			return fmt.Errorf("is too little; use %s", r.bounds())
		case v > hi || v == hi && !hiIn:
			return fmt.Errorf("is too much; use %s", r.bounds())
		}
		*f(o) = v
		return nil
	}
}

// finite reads a finite number.
func finite(arg string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(arg), 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = strconv.ErrRange
	}
	return v, err
}

func setWarmup(o *Options, r *row, arg string) error {
	var s float64
	err := decimal(func(*Options) *float64 { return &s }, 0, 86400, true, true)(o, r, arg)
	o.Warmup = time.Duration(s * float64(time.Second))
	return err
}

func ratio(f field[Ratio]) setter {
	return func(o *Options, r *row, arg string) error {
		a, b, _ := strings.Cut(arg, ":")
		x, err1 := whole(a, 0, maxInt)
		y, err2 := whole(b, 0, maxInt)
		switch {
		case err1 != nil || err2 != nil:
			return fmt.Errorf("is not two whole numbers with a colon between them; use %s, as %s", r.Meta, r.sample())
		case x == 0 && y == 0:
			return fmt.Errorf("is nothing of either; use %s, not both 0", r.Meta)
		}
		*f(o) = Ratio{uint64(x), uint64(y)}
		return nil
	}
}

// span is a range of numbers that are not all 0.
func span(f field[Range]) setter {
	return func(o *Options, r *row, arg string) error {
		x, err := parseRange(arg, 0, maxInt)
		if err == nil && x.To == 0 {
			err = fmt.Errorf("has nothing above 0")
		}
		if err != nil {
			return fmt.Errorf("%w; use %s, as %s", err, r.Meta, r.Example)
		}
		*f(o) = x
		return nil
	}
}

// parseRange reads MIN-MAX; the bounds may be the wrong way round.
func parseRange(arg string, lo, hi int64) (Range, error) {
	a, b, ok := strings.Cut(arg, "-")
	if !ok {
		return Range{}, errors.New("is not two whole numbers with a - between them")
	}
	x, err := whole(a, lo, hi)
	if err == nil {
		var y int64
		y, err = whole(b, lo, hi)
		x, y = min(x, y), max(x, y)
		if err == nil {
			return Range{From: uint64(x), To: uint64(y)}, nil
		}
	}
	return Range{}, fmt.Errorf("is not two whole numbers of %d to %d with a - between them", lo, hi)
}

func setSizes(o *Options, r *row, arg string) error {
	x, err := parseRange(arg, 1, maxSize)
	if err != nil {
		return fmt.Errorf("%w; use %s, as %s", err, r.Meta, r.Example)
	}
	o.DataSizes, o.DataSize = x, 0
	return nil
}

func setSizeList(o *Options, r *row, arg string) error {
	var list []Weighted
	sum := int64(0)
	for item := range strings.SplitSeq(arg, ",") {
		if item == "" { // a comma at the end
			continue
		}
		a, b, _ := strings.Cut(item, ":")
		size, err1 := whole(a, 1, maxSize)
		weight, err2 := whole(b, 0, maxInt)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%q is not a size and a weight; use SIZE:WEIGHT,..., as %s", item, r.Example)
		}
		sum += weight
		list = append(list, Weighted{int(size), int(weight)})
	}
	if sum == 0 {
		return fmt.Errorf("gives no size a weight; use SIZE:WEIGHT,..., as %s", r.Example)
	}
	o.DataSizeList, o.DataSize = list, 0
	return nil
}

func setRequests(o *Options, r *row, arg string) error {
	if arg == "allkeys" {
		o.AllKeys, o.Requests = true, 0
		return nil
	}
	v, err := whole(arg, r.Lo, r.Hi)
	if err != nil {
		return fmt.Errorf("%w, or allkeys", err)
	}
	o.AllKeys, o.Requests = false, uint64(v)
	return nil
}

func setPercentiles(o *Options, r *row, arg string) error {
	var list []float64
	for item := range strings.SplitSeq(arg, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		v, err := finite(item)
		if err != nil || v < 0 || v > 100 {
			return fmt.Errorf("%q is no percentile; use numbers of 0 to 100, as %s", item, r.Default)
		}
		list = append(list, v)
	}
	if list == nil {
		return fmt.Errorf("has no percentile; use numbers of 0 to 100, as %s", r.Default)
	}
	o.Percentiles = list
	return nil
}

func setRamp(o *Options, r *row, arg string) error {
	parts := strings.Split(arg, ":")
	if len(parts) != 3 {
		return fmt.Errorf("is not two factors and a time; use %s, as %s", r.Meta, r.Example)
	}
	var v [3]float64
	for i, p := range parts {
		f, err := finite(p)
		if err != nil || f < 0 || f > 1e9 {
			return fmt.Errorf("%q is not a number of 0 to 1e9; use %s, as %s", p, r.Meta, r.Example)
		}
		v[i] = f
	}
	over := time.Duration(v[2] * float64(time.Second))
	if v[0] == 0 && v[1] == 0 || over <= 0 {
		return fmt.Errorf("is no ramp; use %s, as %s, %s", r.Meta, r.Example, r.Bounds)
	}
	o.Ramp = &Ramp{Start: v[0], End: v[1], Over: over}
	return nil
}

func setKeyPattern(o *Options, r *row, arg string) error {
	if len(arg) != 3 || arg[1] != ':' || !isPattern(arg[0]) || !isPattern(arg[2]) {
		return fmt.Errorf("is not two of R, G, Z, S and P with a colon between them; use %s, as %s", r.Meta, r.Default)
	}
	if (arg[0] == 'P') != (arg[2] == 'P') {
		return errors.New("has P on one side: the parts would be walked by sets or gets alone; use P:P, or S in its place")
	}
	o.SetPattern, o.GetPattern = Pattern(arg[0]), Pattern(arg[2])
	return nil
}

func isPattern(c byte) bool { return strings.IndexByte("RGZSP", c) >= 0 }

var tlsVersions = []struct {
	name    string
	version uint16
}{{"TLSv1", tls.VersionTLS10}, {"TLSv1.1", tls.VersionTLS11}, {"TLSv1.2", tls.VersionTLS12}, {"TLSv1.3", tls.VersionTLS13}}

func setTLSProtocols(o *Options, r *row, arg string) error {
	var on [4]bool
	for name := range strings.SplitSeq(arg, ",") {
		known := false
		for i, v := range tlsVersions {
			if strings.EqualFold(strings.TrimSpace(name), v.name) {
				on[i], known = true, true
			}
		}
		if !known {
			return fmt.Errorf("%q is no version; use some of %s", name, r.Bounds)
		}
	}
	o.TLSMin, o.TLSMax = 0, 0
	for i, v := range tlsVersions {
		switch {
		case !on[i]:
		case o.TLSMin == 0:
			o.TLSMin, o.TLSMax = v.version, v.version
		case !on[i-1]:
			return errors.New("has a gap: versions between the lowest and the highest cannot be left out; name them too")
		default:
			o.TLSMax = v.version
		}
	}
	return nil
}

func setAuthenticate(o *Options, _ *row, arg string) error {
	o.User, o.Password = codec.Credentials(arg)
	o.Authenticate = arg != ""
	return nil
}

func setServers(o *Options, _ *row, arg string) (err error) {
	o.Servers, err = addresses(arg)
	return err
}

func setAgents(o *Options, _ *row, arg string) (err error) {
	o.Agents, err = addresses(arg)
	return err
}

// addresses reads host:port,... without any twice.
func addresses(arg string) ([]string, error) {
	var list []string
	seen := map[string]bool{}
	for a := range strings.SplitSeq(arg, ",") {
		host, port, err := net.SplitHostPort(a)
		if err != nil || host == "" {
			return nil, fmt.Errorf("%q is not host:port; separate several by commas", a)
		}
		if _, err := whole(port, 1, 65535); err != nil {
			return nil, fmt.Errorf("%q: the port %w", a, err)
		}
		if seen[a] {
			return nil, fmt.Errorf("%q is there twice; leave one out", a)
		}
		seen[a] = true
		list = append(list, a)
	}
	return list, nil
}
