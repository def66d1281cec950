package stats

import (
	"reflect"
	"testing"
)

// fill gives every counter of a struct a value of its own.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		v.Field(i).SetUint(uint64(i + 1))
	}
}

// TestSumsKnowEveryCounter: whoever adds a counter must add it to fields.
func TestSumsKnowEveryCounter(t *testing.T) {
	var c, sum Counters
	fill(reflect.ValueOf(&c).Elem())
	sum.Add(&c)
	if sum != c {
		t.Errorf("sum of one is %+v, want %+v", sum, c)
	}
	if sum.Sub(&c); sum != (Counters{}) {
		t.Errorf("left after subtraction: %+v", sum)
	}
	var k, classes Class
	fill(reflect.ValueOf(&k).Elem())
	classes.Add(&k)
	if classes != k {
		t.Errorf("sum of one is %+v, want %+v", classes, k)
	}
	if classes.Sub(&k); classes != (Class{}) {
		t.Errorf("left after subtraction: %+v", classes)
	}
}
