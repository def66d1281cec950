package route

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParseServer(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Server
	}{
		{"a", Server{"a", 11211, 0}},
		{"a:1", Server{"a", 1, 0}},
		{"10.0.0.1:65535:3", Server{"10.0.0.1", 65535, 3}},
		{"[::1]", Server{"::1", 11211, 0}},
		{"[::1]:2:7", Server{"::1", 2, 7}},
		{"/run/mc.sock", Server{"/run/mc.sock", 0, 0}},
	} {
		if got, err := ParseServer(c.in); err != nil || got != c.want {
			t.Errorf("%q: %+v, %v, want %+v", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"", ":1", "a:", "a:0", "a:65536", "a:1:0", "a:1:2:3", "a:x", "[::1", "[::1]x", "a:1:99999999999"} {
		if got, err := ParseServer(in); err == nil {
			t.Errorf("%q: taken as %+v", in, got)
		}
	}
}

func TestKetamaRefuses(t *testing.T) {
	for _, s := range [][]Server{nil, {{"a", 1, 0}, {"a", 1, 2}}, {{"a", 1, -1}}} {
		if _, err := NewKetama(s); err == nil {
			t.Errorf("%v: no error", s)
		}
	}
	if _, err := NewPlainKetama([]Server{{"a", 1, 2}}); err == nil {
		t.Error("plain ketama takes weights")
	}
}

func TestModulo(t *testing.T) {
	for i := range 100 {
		key := []byte(fmt.Sprintf("user%d", i*i))
		h := fnv.New64a()
		h.Write(key)
		if got, want := Modulo(7).Server(key), int(h.Sum64()%7); got != want {
			t.Fatalf("%s: server %d, want %d", key, got, want)
		}
	}
}

// A server that joins takes keys from the others, which keep the rest.
func TestKetamaIsConsistent(t *testing.T) {
	four := []Server{{"a", 1, 0}, {"b", 11211, 0}, {"c", 3, 0}, {"d", 4, 0}}
	k3, _ := NewKetama(four[:3])
	k4, _ := NewKetama(four)
	moved := 0
	for i := range 10000 {
		key := []byte(strconv.Itoa(i))
		a, b := k3.Server(key), k4.Server(key)
		if a != b && b != 3 {
			t.Fatalf("key %s went from %d to %d", key, a, b)
		}
		if a != b {
			moved++
		}
	}
	if moved < 1500 || moved > 3500 {
		t.Errorf("%d of 10000 keys moved", moved)
	}
}

// listenPorts are free ports of 127.0.0.1, n of them.
func listenPorts(t *testing.T, n int) []int {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// spawn starts a server and waits until it listens. It is killed when the test ends.
func spawn(t *testing.T, port int, name string, args ...string) *exec.Cmd {
	if testing.Short() {
		t.Skip("short: no servers")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s to talk to: %v", name, err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	poll(t, name+" to listen", func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return cmd
}

// poll waits for something to become true.
func poll(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited 20 s for %s", what)
		}
	}
}

func memcacheds(t *testing.T, n int) (servers []Server) {
	for _, port := range listenPorts(t, n) {
		spawn(t, port, "memcached", "-p", strconv.Itoa(port), "-U", "0", "-l", "127.0.0.1", "-m", "32", "-t", "1", "-u", "nobody")
		servers = append(servers, Server{Host: "127.0.0.1", Port: port})
	}
	return servers
}

// mcGet is the value of a key.
func mcGet(t *testing.T, s Server, key string) (value string, ok bool) {
	t.Helper()
	network, address := s.Address()
	c, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "get %s\r\nquit\r\n", key)
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\r\n")
	if lines[0] == "END" {
		return "", false
	}
	return lines[1], true
}

// TestLibmemcached has the real library store keys and looks for them where Ketama says that they are.
func TestLibmemcached(t *testing.T) {
	const python = "/usr/bin/python3"
	if out, err := exec.Command(python, "-c", "import pylibmc").CombinedOutput(); err != nil {
		t.Skipf("no pylibmc for %s: %v %s", python, err, out)
	}
	for _, c := range []struct {
		behavior string
		weights  []int
		make     func([]Server) (*Ketama, error)
	}{
		{"ketama_weighted", []int{0, 0, 0, 0}, NewKetama},
		{"ketama_weighted", []int{1, 2, 5}, NewKetama},
		{"ketama_weighted", []int{7, 1, 3, 3, 2}, NewKetama},
		{"ketama", []int{0, 0, 0}, NewPlainKetama},
	} {
		weights := c.weights
		servers := memcacheds(t, len(weights))
		var specs []string
		for i, w := range weights {
			servers[i].Weight = w
			specs = append(specs, fmt.Sprintf("'127.0.0.1:%d:%d'", servers[i].Port, max(1, w)))
		}
		program := fmt.Sprintf(`
import pylibmc
c = pylibmc.Client([%s], behaviors={"%s": True})
for i in range(1000):
    k = "key-%%d-%%s" %% (i, "x" * (i %% 60))
    assert c.set(k, str(i))
    print(k)
`, strings.Join(specs, ", "), c.behavior)
		cmd := exec.Command(python, "-c", program)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		k, err := c.make(servers)
		if err != nil {
			t.Fatal(err)
		}
		n, wrong := 0, 0
		for sc := bufio.NewScanner(strings.NewReader(string(out))); sc.Scan(); n++ {
			if _, ok := mcGet(t, servers[k.Server(sc.Bytes())], sc.Text()); !ok {
				wrong++
			}
		}
		if n != 1000 || wrong > 0 {
			t.Errorf("%s, weights %v: %d of %d keys are not where they should be", c.behavior, weights, wrong, n)
		}
	}
}
