package stat

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func letters(turns []Turn) string {
	var b strings.Builder
	for _, t := range turns {
		b.WriteByte(byte('A' + t.Subject))
	}
	return b.String()
}

func TestSchedule(t *testing.T) {
	for _, c := range []struct {
		order            Order
		subjects, rounds int
		want             string
	}{
		{ABBA, 2, 2, "ABBA"}, {ABBA, 2, 5, "ABBAABBAAB"}, {ABBA, 3, 2, "ABCCBA"}, {ABBA, 1, 3, "AAA"},
	} {
		turns, err := Schedule(c.order, c.subjects, c.rounds, 1)
		if got := letters(turns); err != nil || got != c.want {
			t.Errorf("%v of %d in %d rounds: %s, %v, want %s", c.order, c.subjects, c.rounds, got, err, c.want)
		}
	}
	if _, err := Schedule(ABBA, 0, 1, 0); err == nil {
		t.Error("a schedule of nothing")
	}
	a, _ := Schedule(Random, 4, 20, 7)
	b, _ := Schedule(Random, 4, 20, 7)
	c, _ := Schedule(Random, 4, 20, 8)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("the seed decides nothing, or not everything")
	}
}

func TestCollect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.SampledFrom([]Order{ABBA, Random}).Draw(t, "order")
		subjects, rounds := rapid.IntRange(1, 5).Draw(t, "subjects"), rapid.IntRange(1, 9).Draw(t, "rounds")
		turns, err := Schedule(order, subjects, rounds, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		done := rapid.IntRange(0, len(turns)).Draw(t, "done")
		values := make([]float64, done)
		for i := range values {
			values[i] = float64(1000*turns[i].Subject + turns[i].Round)
		}
		got, err := Collect(turns, values)
		if err != nil || len(got) != subjects {
			t.Fatal(got, err)
		}
		for s, v := range got {
			if len(v) != done/subjects {
				t.Fatalf("subject %d has %d values of %d", s, len(v), done)
			}
			for r, x := range v {
				if x != float64(1000*s+r) {
					t.Fatalf("subject %d, round %d: %v", s, r, x)
				}
			}
		}
	})
	if _, err := Collect([]Turn{{0, 0}}, []float64{1, 2}); err == nil {
		t.Error("more values than turns")
	}
	if _, err := Collect([]Turn{{0, 0}, {0, 0}, {1, 1}, {1, 1}}, []float64{1, 2}); err == nil {
		t.Error("rounds that miss a subject")
	}
}
