package config

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestListen(t *testing.T) {
	for _, tc := range []struct {
		args string
		want []Listen
	}{
		{"-l 127.0.0.1", []Listen{{Host: "127.0.0.1"}}},
		{"-l 127.0.0.1:5,*:6;h:7", []Listen{{Host: "127.0.0.1", Port: 5, PortGiven: true}, {Port: 6, PortGiven: true}, {Host: "h", Port: 7, PortGiven: true}}},
		{"-l h:0", []Listen{{Host: "h", PortGiven: true}}},
		{"-l ::1", []Listen{{Host: "::1"}}},
		{"-l [::1]", []Listen{{Host: "::1"}}},
		{"-l [::1]:5", []Listen{{Host: "::1", Port: 5, PortGiven: true}}},
		{"-l a -l b -l a", []Listen{{Host: "a"}, {Host: "b"}}},
		{"-l 127.0.0.1 -l 127.0.0", []Listen{{Host: "127.0.0.1"}}},
		{"-l proto[binary]:tag[svc]:h:5,proto[a]:tag_t_:i", []Listen{
			{Host: "h", Port: 5, PortGiven: true, Proto: Binary, Tag: "svc"}, {Host: "i", Proto: ASCII, Tag: "t"}}},
		{"-l proto[binary]:h -B ascii", []Listen{{Host: "h", Proto: Binary}}},
		{"-l protocol.example", []Listen{{Host: "col.example"}}}, // as memcached reads it
		{"-Z -l notls:a,btls:b,mtls:c,d", []Listen{{Host: "a", TLS: TLSNone}, {Host: "b", TLS: TLSBasic}, {Host: "c", TLS: TLSMutual}, {Host: "d"}}},
		{"-Y f -l proto[negotiating]:h", []Listen{{Host: "h", Proto: ASCII}}},
		{"-s /x -l tag[", nil},
	} {
		m, exit := ParseMemcached("memcached", split(t, tc.args))
		if exit != nil {
			t.Errorf("%s: %+v", tc.args, exit)
			continue
		}
		if !reflect.DeepEqual(m.Inter, tc.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", tc.args, m.Inter, tc.want)
		}
	}
}

// TestSettings checks what settings become, where memcached's own answer (see TestReference) does not show it.
func TestSettings(t *testing.T) {
	for _, tc := range []struct {
		args string
		get  func(m *Memcached) any
		want any
	}{
		{"-vvdm 128", func(m *Memcached) any { return []any{m.Verbosity, m.Daemon, m.MaxBytes} }, []any{2, true, int64(128 << 20)}},
		{"-m -1", func(m *Memcached) any { return m.MaxBytes }, int64(noLimit)},
		{"-U 5", func(m *Memcached) any { return []int{m.Port, m.UDPPort} }, []int{5, 5}},
		{"-U 5 -p 6", func(m *Memcached) any { return []int{m.Port, m.UDPPort} }, []int{6, 5}},
		{"-U 0", func(m *Memcached) any { return []int{m.Port, m.UDPPort} }, []int{11211, 0}},
		{"-I 2m", func(m *Memcached) any { return []int64{m.ItemSizeMax, int64(m.SlabChunkMax)} }, []int64{2 << 20, 512 << 10}},
		{"-o no_modern", func(m *Memcached) any {
			return []any{m.SlabChunkMax, m.MaxConnsFast, m.HashAlgorithm, m.Segmented, m.Crawler, m.Maintainer}
		}, []any{1 << 20, false, "jenkins", false, false, false}},
		{"-o slab_chunk_max=16,no_modern", func(m *Memcached) any { return m.SlabChunkMax }, 16 << 10},
		{"-o slab_sizes=96-200", func(m *Memcached) any { return m.SlabSizes }, []int{96, 200}},
		{"-S", func(m *Memcached) any { return m.Protocol }, Binary},
		{"-Y f", func(m *Memcached) any { return m.Protocol }, ASCII},
		{"-D /", func(m *Memcached) any { return []any{m.PrefixDelim, m.Detail} }, []any{byte('/'), true}},
		{"-a 755", func(m *Memcached) any { return m.SocketMode }, uint32(0o755)},
		{"--io=epoll --admin 127.0.0.1:9", func(m *Memcached) any { return m.IO + m.Admin }, "epoll127.0.0.1:9"},
		{"-t 3", func(m *Memcached) any { return m.ThreadsGiven }, true},
		{"-o watcher_logbuf_size=1,read_buf_mem_limit=2", func(m *Memcached) any { return []any{m.WatcherLogbuf, m.ReadBufMemLimit} }, []any{1024, int64(2 << 20)}},
		{"-L -o hashpower=13,modern,relaxed_privileges -L -t 65", func(m *Memcached) any { return strings.Join(m.Notices, "|") },
			"-L has no effect: large pages are used wherever they fit the limit|-o hashpower has no effect: the index grows and shrinks by itself"},
	} {
		m, exit := ParseMemcached("memcached", split(t, tc.args))
		if exit != nil {
			t.Errorf("%s: %+v", tc.args, exit)
			continue
		}
		if got := tc.get(m); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.args, got, tc.want)
		}
	}
}

// TestOurs are the answers that differ from memcached's, or that it has none of.
func TestOurs(t *testing.T) {
	for _, tc := range []struct {
		args string
		want Exit
	}{
		{"-o ext_path=/f:1G", Exit{1, "", "ext_path is not supported: there is no external storage in this server\n"}},
		{"-o proxy_config=f", Exit{1, "", "proxy_config is not supported: there is no proxy in this server\n"}},
		{"-o slab_sizes", Exit{1, "", "Missing slab_sizes argument\n"}}, // memcached crashes
		{"-f nan", Exit{1, "", "Factor must be greater than 1\n"}},
		{"-S -B ascii", Exit{64, "", "ERROR: You cannot allow the ASCII protocol while using SASL.\n"}},
		{"-S -B auto", Exit{64, "", "ERROR: You cannot allow the ASCII protocol while using SASL.\n"}},
		{"-S -U 5", Exit{64, "", "ERROR: Cannot enable UDP while using binary SASL authentication.\n"}},
		{"--io=x", Exit{64, "", "Invalid value for io: x\n -- should be one of auto, epoll, io_uring, or std\n"}},
		{"--adm x", Exit{1, "", "memcached: unrecognized option '--adm'\nIllegal argument \"?\"\n"}}, // ours are not shortened
		{"-l mtls:a", Exit{71, "", "'otls' option is valid only when SSL is enabled\nfailed to listen on one of interface(s) mtls:a: Success\n"}},
	} {
		_, exit := ParseMemcached("memcached", split(t, tc.args))
		if exit == nil || *exit != tc.want {
			t.Errorf("%s: got %+v, want %+v", tc.args, exit, tc.want)
		}
	}
}

func TestHelp(t *testing.T) {
	_, exit := ParseMemcached("memcached", []string{"-p", "5", "-m1024", "-h", "-z"})
	if exit == nil || exit.Code != 0 {
		t.Fatal(exit)
	}
	for _, want := range []string{"memcached 1.6.45\n-p, --port=<num>          TCP port to listen on (default: 5)\n", "(default: 1024)", "enable-ssl", "unix-socket", "Sasl"} {
		if !strings.Contains(exit.Stdout, want) {
			t.Errorf("-h lacks %q", want)
		}
	}
	for _, not := range []string{"ext_path", "proxy_config", "no_drop_privileges", "%!"} {
		if strings.Contains(exit.Stdout, not) {
			t.Errorf("-h has %q, which scripts take for a feature", not)
		}
	}
	ours, err := os.ReadFile("testdata/help.txt")
	if err != nil {
		t.Fatal(err)
	}
	// The part that memcached has, too, is recorded from it, less the lines of features that are absent here.
	if got := Usage(Defaults()); !strings.HasPrefix(got, string(ours)) {
		t.Errorf("-h does not begin as in testdata/help.txt:\n%s", got)
	}
}

// TestRows checks the table itself.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rows() {
		name := r.Name()
		if seen[name] {
			t.Errorf("%s: twice", name)
		}
		seen[name] = true
		if r.set == nil || r.Doc == "" {
			t.Errorf("%s: incomplete", name)
		}
		if r.Arg == Required && r.Meta == "" {
			t.Errorf("%s: no name for its argument", name)
		}
		if isWord := strings.HasPrefix(name, "-o "); (r.Missing != "") != (isWord && r.Arg == Required) {
			t.Errorf("%s: text for a missing value: %q", name, r.Missing)
		}
	}
	for i := range len(longOrder) {
		if byShort[longOrder[i]] == nil {
			t.Errorf("longOrder: no option %c", longOrder[i])
		}
	}
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile(cmdlines)
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, "$ "); ok {
			f.Add(strings.ReplaceAll(rest, " ", "\x00"))
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		m, exit := ParseMemcached("memcached", strings.Split(line, "\x00"))
		if (m == nil) == (exit == nil) {
			t.Fatal("neither settings nor an exit, or both")
		}
		if exit != nil {
			if exit.Code != 0 && exit.Stderr == "" && !strings.Contains(line, "slab_sizes") {
				t.Fatalf("exit %d without a word", exit.Code)
			}
			return
		}
		if m.MaxConns < 1 || m.Threads < 1 || m.ReqsPerEvent < 1 || m.ChunkSize < 1 || !(m.GrowthFactor > 1) || m.Port > 65535 ||
			m.ItemSizeMax < 1024 || m.ItemSizeMax > m.MaxBytes/2 || m.ItemSizeMax > 1<<30 || m.SlabChunkMax < 1 ||
			slabPage%m.SlabChunkMax != 0 || m.SSLMinVersion < 0 || m.SSLMinVersion > 3 || m.SSLVerifyMode < 0 || m.SSLVerifyMode > 3 {
			t.Fatalf("out of bounds: %+v", m)
		}
	})
}
