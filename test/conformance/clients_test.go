//go:build unix

package conformance

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/test/conformance/server"
)

// program is the path of a program, or skips the test.
func program(t *testing.T, name, install string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("clients take their time")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s (%s)", name, install)
	}
	return path
}

// run runs a program to its end, for a minute at most, and gives what it says.
func run(t *testing.T, name string, args ...string) (out string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	b, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%s %v: %v %v\n%s", name, args, err, ctx.Err(), b)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return string(b), code
}

const debianTools = "Debian: apt-get install libmemcached-tools"

var verdict = regexp.MustCompile(`(?m)^((?:ascii|binary) [a-z ]+?) +\[(pass|FAIL)\]`)

// capable runs all checks of memccapable and gives those that fail.
func capable(t *testing.T, tool string, s *server.Server) (failed []string, checks int) {
	out, _ := run(t, tool, "-h", "127.0.0.1", "-p", s.Port, "-t", "5")
	for _, m := range verdict.FindAllStringSubmatch(out, -1) {
		if checks++; m[2] == "FAIL" {
			failed = append(failed, m[1])
		}
	}
	return failed, checks
}

// TestCapable has libmemcached's checks of a server for the text and the binary protocol. The two that expect delete with
// a needless argument to be refused fail since memcached takes such arguments, as 1.6.45 does and 1.6.18 did not.
func TestCapable(t *testing.T) {
	tool := program(t, "memccapable", debianTools)
	outdated := []string{"ascii delete", "ascii delete noreply"}
	check := func(t *testing.T, path string) {
		failed, n := capable(t, tool, server.Start(t, path))
		t.Logf("%d checks, failed: %q", n, failed)
		if n < 50 {
			t.Errorf("only %d checks", n)
		}
		for _, f := range failed {
			if !slices.Contains(outdated, f) {
				t.Errorf("%s fails", f)
			}
		}
	}
	t.Run("godwit", func(t *testing.T) { check(t, bin) })
	t.Run("memcached", func(t *testing.T) { // what it fails is no fault of ours
		check(t, program(t, cmp.Or(os.Getenv("GODWIT_MEMCACHED"), "memcached"), "Debian: apt-get install memcached"))
	})
}

// TestTools uses libmemcached's command line.
func TestTools(t *testing.T) {
	program(t, "memccp", debianTools)
	s := server.Start(t, bin)
	dir := t.TempDir()
	files := map[string]string{"small": "hello", "empty": "", "binary": "\x00\r\nEND\r\n\xff", "large": strings.Repeat("0123456789", 100000)}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := func(code int, tool string, args ...string) string {
		t.Helper()
		out, got := run(t, tool, append([]string{"--servers=" + s.Addr}, args...)...)
		if got != code {
			t.Errorf("%s %v: exit %d, want %d: %s", tool, args, got, code, out)
		}
		return out
	}
	for _, protocol := range []string{"--non-blocking", "--binary"} { // the first changes nothing here
		for name, text := range files {
			want(0, "memccp", protocol, filepath.Join(dir, name))
			if text == "" {
				continue // memccat says nothing of it
			}
			copied := filepath.Join(dir, "copy")
			want(0, "memccat", protocol, "--file="+copied, name)
			if got, _ := os.ReadFile(copied); string(got) != text {
				t.Errorf("%s %s: %s", protocol, name, cut(string(got)))
			}
		}
		want(0, "memcexist", protocol, "small")
		want(0, "memctouch", protocol, "--expire=100", "small")
		want(0, "memcrm", protocol, "small")
		want(1, "memcexist", protocol, "small")
		want(1, "memccat", protocol, "small")
	}
	if out := want(0, "memcstat"); !strings.Contains(out, "version: 1.6.45") || !strings.Contains(out, "curr_items: 3") {
		t.Errorf("memcstat: %s", out)
	}
	if out := want(0, "memcdump"); !strings.Contains(out, "large") {
		t.Logf("memcdump, of the items that are in a class's cold queue: %q", out)
	}
	want(0, "memcping")
	want(0, "memcslap", "--concurrency=4", "--execute-number=500", "--test=set")
	want(0, "memcslap", "--concurrency=4", "--execute-number=500", "--test=get", "--binary")
	want(0, "memcflush")
	want(1, "memcexist", "large")
}

const python = "/usr/bin/python3"

func pythonWith(t *testing.T, module, install string) {
	t.Helper()
	program(t, python, install)
	if out, code := run(t, python, "-c", "import "+module); code != 0 {
		t.Skipf("python3 has no %s (Debian: apt-get install %s): %s", module, install, out)
	}
}

// script runs one of testdata that ends with 0 if all was as expected.
func script(t *testing.T, interpreter, name string, args ...string) {
	t.Helper()
	out, code := run(t, interpreter, append([]string{filepath.Join("testdata", name)}, args...)...)
	if code != 0 {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestPymemcache(t *testing.T) {
	pythonWith(t, "pymemcache", "python3-pymemcache")
	t.Run("tcp", func(t *testing.T) { script(t, python, "use_pymemcache.py", server.Start(t, bin).Port) })
	t.Run("tls", func(t *testing.T) {
		cert, key := certificate(t)
		s := server.Start(t, bin, "-Z", "-o", "ssl_chain_cert="+cert+",ssl_key="+key)
		script(t, python, "use_pymemcache.py", s.Port, cert)
	})
}

func TestPylibmc(t *testing.T) {
	pythonWith(t, "pylibmc", "python3-pylibmc")
	s := server.Start(t, bin)
	t.Run("text", func(t *testing.T) { script(t, python, "use_pylibmc.py", s.Port, "text") })
	t.Run("binary", func(t *testing.T) { script(t, python, "use_pylibmc.py", s.Port, "binary") })
	t.Run("sasl", func(t *testing.T) {
		db := filepath.Join(t.TempDir(), "pwdb")
		if err := os.WriteFile(db, []byte("user:secret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("MEMCACHED_SASL_PWDB", db)
		script(t, python, "use_pylibmc.py", server.Start(t, bin, "-S").Port, "sasl")
	})
}

func TestMemjs(t *testing.T) {
	node := program(t, "node", "Debian: apt-get install nodejs")
	if out, code := run(t, node, "-e", `require("memjs")`); code != 0 {
		t.Skipf("node has no memjs (npm install --no-save --prefix DIR memjs, then NODE_PATH=DIR/node_modules): %s", strings.SplitN(out, "\n", 2)[0])
	}
	t.Run("plain", func(t *testing.T) { script(t, node, "use_memjs.js", server.Start(t, bin).Addr) })
	t.Run("sasl", func(t *testing.T) {
		db := filepath.Join(t.TempDir(), "pwdb")
		if err := os.WriteFile(db, []byte("user:secret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("MEMCACHED_SASL_PWDB", db)
		script(t, node, "use_memjs.js", server.Start(t, bin, "-S").Addr, "user", "secret")
	})
}

// certificate makes one for this host, signed by itself.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	kder, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, b := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: kder}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
}
