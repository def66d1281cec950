package raw

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const first = `{"event":"study","time":"2026-11-30T12:00:00Z","study":{"format":1,"program":"x","name":"n","search":"fixed","p99_ms":0,"warmup_seconds":1,"window_seconds":1,"repetitions":1,"load":[],"servers":[],"text":""}}` + "\n"

func TestReadDamaged(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "raw.jsonl: no line of results"},
		{"only a torn line", `{"event":"stu`, "raw.jsonl: no line of results"},
		{"no JSON", first + "hello\n" + first, "raw.jsonl:2: damaged line: "},
		{"cut within", first + first[:40] + "\n" + first, "raw.jsonl:2: damaged line: "},
		{"empty line", first + "\n", "raw.jsonl:2: damaged line: "},
		{"unknown", first + `{"event":"party"}` + "\n", `raw.jsonl:2: unknown event "party"`},
		{"without contents", first + first + `{"event":"result"}` + "\n", `raw.jsonl:3: event "result" without what it tells of`},
		{"head missing", `{"event":"end"}` + "\n", `raw.jsonl:1: the file begins with "end"`},
		{"later format", strings.Replace(first, `"format":1`, `"format":9`, 1), "raw.jsonl:1: format 9"},
	} {
		_, _, err := Read("raw.jsonl", strings.NewReader(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, where %q is wanted", c.name, err, c.want)
		}
	}
}

func TestTornLine(t *testing.T) {
	name := filepath.Join(t.TempDir(), "raw.jsonl")
	if err := os.WriteFile(name, []byte(first+`{"event":"en`), 0o666); err != nil {
		t.Fatal(err)
	}
	list, size, err := Load(name)
	if err != nil || len(list) != 1 || size != int64(len(first)) {
		t.Fatalf("%d events, %d bytes, %v", len(list), size, err)
	}
	w, err := Continue(name, size)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(Event{Kind: KindEnd}); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if list, _, err = Load(name); err != nil || len(list) != 2 || list[1].Kind != KindEnd {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := Create(name); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("over a file that is there: %v", err)
	}
}

func TestShell(t *testing.T) {
	if got := Shell([]string{"redis-server", "--save", "", "a b", "it's", "-p", "1"}); got != `redis-server --save '' 'a b' 'it'\''s' -p 1` {
		t.Error(got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(first)
	f.Add(first + `{"event":"end"}` + "\n")
	f.Add(first + `{"event":"result","result":{"parts":[{"run":"AAAA"}]}}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, size, err := Read("raw.jsonl", strings.NewReader(text))
		if err == nil && (len(list) == 0 || size > int64(len(text))) {
			t.Errorf("%d events of %d bytes", len(list), size)
		}
		for _, e := range list {
			if e.Result != nil {
				for i := range e.Result.Parts {
					e.Result.Parts[i].Decode()
				}
			}
		}
	})
}
