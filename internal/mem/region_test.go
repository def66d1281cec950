package mem

import "testing"

func TestRegionClass(t *testing.T) {
	for p := int64(1); p < 300000; p++ {
		c := regionClassOf(p * 4096)
		if regionSize(c) < p*4096 {
			t.Fatal(p, c, regionSize(c)/4096)
		}
		if c > 0 && regionSize(c-1) >= p*4096 {
			t.Fatal("loose", p, c, regionSize(c-1)/4096)
		}
		if p%65536 == 0 {
			t.Log(p, c)
		}
	}
}
