package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseCount reads a number with k, m or g for powers of 1000.
func parseCount(v string) (int64, error) { return parseScaled(v, 1000, "kmg", "count") }

// parseBytes reads bytes with k, m, g or t for powers of 1024; a b or ib may follow.
func parseBytes(v string) (int64, error) {
	t := strings.ToLower(v)
	t = strings.TrimSuffix(t, "b")
	t = strings.TrimSuffix(t, "i")
	return parseScaled(t, 1024, "kmgt", "size")
}

func parseScaled(v string, step float64, units, what string) (int64, error) {
	t := strings.ToLower(v)
	scale := 1.0
	if t != "" {
		if i := strings.IndexByte(units, t[len(t)-1]); i >= 0 {
			t, scale = t[:len(t)-1], math.Pow(step, float64(i+1))
		}
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil || !(f >= 0) || f*scale >= 1<<62 {
		return 0, fmt.Errorf("%s %q: not understood (such as 500000, 64k or 1.5m)", what, v)
	}
	return int64(math.Round(f * scale)), nil
}

func parseSeconds(v string) (int64, error) {
	scale := int64(1)
	t := v
	if t != "" {
		switch t[len(t)-1] {
		case 's':
			t = t[:len(t)-1]
		case 'm':
			t, scale = t[:len(t)-1], 60
		case 'h':
			t, scale = t[:len(t)-1], 3600
		case 'd':
			t, scale = t[:len(t)-1], day
		}
	}
	n, err := strconv.ParseInt(t, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("lifetime %q: not understood (such as 30s, 5m, 12h, 1d)", v)
	}
	return n * scale, nil
}

// textBytes for people, with up to three digits.
func textBytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f /= 1024
		i++
	}
	return strconv.FormatFloat(f, 'f', decimals(f), 64) + " " + units[i]
}

func decimals(f float64) int {
	switch {
	case f == math.Trunc(f) || f >= 100:
		return 0
	case f >= 10:
		return 1
	}
	return 2
}
