package keys

import (
	"sync"
	"testing"
)

func TestInserts(t *testing.T) {
	s := NewInserts(1000)
	take := func() uint64 {
		i, ok := s.Take()
		if !ok {
			t.Fatal("the window is full")
		}
		return i
	}
	ack := func(i, want uint64) {
		t.Helper()
		if err := s.Ack(i); err != nil {
			t.Fatal(err)
		}
		if got := s.Acked(); got != want {
			t.Fatalf("after %d: acknowledged below %d, want %d", i, got, want)
		}
	}
	for want := uint64(1000); want < 1005; want++ {
		if got := take(); got != want {
			t.Fatalf("took %d, want %d", got, want)
		}
	}
	ack(1001, 1000)
	ack(1003, 1000)
	ack(1000, 1002)
	for _, i := range []uint64{999, 1001, 1003, 1005, 0, top} {
		if s.Ack(i) == nil {
			t.Errorf("%d was acknowledged although it is not under way", i)
		}
	}
	ack(1002, 1004)
	ack(1004, 1005)
}

func TestInsertsWindow(t *testing.T) {
	for _, first := range []uint64{0, 12345, 1<<40 - 3} {
		s := NewInserts(first)
		for i := range uint64(Window) {
			if got, ok := s.Take(); !ok || got != first+i {
				t.Fatalf("took %d, %v", got, ok)
			}
		}
		if i, ok := s.Take(); ok {
			t.Fatalf("took %d of a full window", i)
		}
		for i := uint64(Window - 1); i > 0; i-- {
			if err := s.Ack(first + i); err != nil || s.Acked() != first {
				t.Fatal(err, s.Acked())
			}
		}
		if err := s.Ack(first); err != nil || s.Acked() != first+Window {
			t.Fatal(err, s.Acked())
		}
		if got, ok := s.Take(); !ok || got != first+Window {
			t.Fatalf("took %d, %v after the window was emptied", got, ok)
		}
	}
}

func TestInsertsTogether(t *testing.T) {
	s := NewInserts(0)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var late []uint64
			for n := range 5000 {
				i, ok := s.Take()
				if !ok {
					t.Error("the window is full")
					return
				}
				if late = append(late, i); n%7 == 6 { // in bunches, newest first
					for len(late) > 0 {
						if err := s.Ack(late[len(late)-1]); err != nil {
							t.Error(err)
						}
						late = late[:len(late)-1]
					}
				}
			}
			for _, i := range late {
				if err := s.Ack(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := s.Acked(); got != 20_000 {
		t.Errorf("acknowledged below %d of 20000", got)
	}
}

func BenchmarkInserts(b *testing.B) {
	s := NewInserts(0)
	for b.Loop() {
		i, _ := s.Take()
		_ = s.Ack(i)
	}
}
