package route

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestSlot(t *testing.T) {
	if got := crc16([]byte("123456789")); got != 0x31c3 {
		t.Errorf("crc16 %#x, want 0x31c3", got)
	}
	for _, c := range []struct {
		key  string
		tag  string
		slot int
	}{
		{"", "", 0},
		{"foo", "foo", 12182},
		{"bar", "bar", 5061},
		{"hello", "hello", 866},
		{"somekey", "somekey", 11058},
		{"foo{hash_tag}", "hash_tag", 2515},
		{"bar{hash_tag}", "hash_tag", 2515},
		{"{user1000}.following", "user1000", 3443},
		{"{}foo", "{}foo", -1},
		{"foo{}{bar}", "foo{}{bar}", -1},
		{"foo{{bar}}zap", "{bar", 4015},
		{"foo{bar}{zap}", "bar", 5061},
		{"foo{bar", "foo{bar", -1},
		{"foo}bar{", "foo}bar{", -1},
	} {
		if got := string(Tag([]byte(c.key))); got != c.tag {
			t.Errorf("%q: tag %q, want %q", c.key, got, c.tag)
		}
		if got := Slot([]byte(c.key)); c.slot >= 0 && got != c.slot {
			t.Errorf("%q: slot %d, want %d", c.key, got, c.slot)
		}
	}
}

// The table does what the polynomial says.
func TestCRC16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		var c uint16
		for _, x := range b {
			for bit := 7; bit >= 0; bit-- {
				top := c>>15 ^ uint16(x>>bit&1)
				c = c<<1 ^ top*0x1021
			}
		}
		if got := crc16(b); got != c {
			t.Fatalf("%#x, want %#x", got, c)
		}
	})
}

func TestSameSlot(t *testing.T) {
	if err := SameSlot([]byte("{a}1"), []byte("{a}2"), []byte("a")); err != nil {
		t.Error(err)
	}
	if err := SameSlot([]byte("a1"), []byte("a2")); err == nil {
		t.Error("keys of different slots are taken")
	}
	if err := SameSlot(); err != nil {
		t.Error(err)
	}
}

func BenchmarkSlot(b *testing.B) {
	key := fmt.Appendf(nil, "memtier-%d", 1234567)
	for b.Loop() {
		Slot(key)
	}
}
