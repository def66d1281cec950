//go:build unix

package process

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// talk sends lines and compares the answers, each "request → answer" with \n for line ends.
func talk(t *testing.T, c net.Conn, script ...string) {
	t.Helper()
	r := bufio.NewReader(c)
	for _, step := range script {
		request, want, _ := strings.Cut(step, " → ")
		if _, err := io.WriteString(c, strings.ReplaceAll(request, "\n", "\r\n")+"\r\n"); err != nil {
			t.Fatalf("%q: %v", request, err)
		}
		want = strings.ReplaceAll(want, "\n", "\r\n")
		if want != "" {
			want += "\r\n"
		}
		got := make([]byte, len(want))
		if n, err := io.ReadFull(r, got); err != nil || string(got) != want {
			t.Fatalf("%q:\ngot  %q (%v)\nwant %q", request, got[:n], err, want)
		}
	}
}

func TestGreeting(t *testing.T) {
	p := startCmd(t, exec.Command(bin, "serve", "-m", "64"), false)
	p.await("the announcement", func() bool { return strings.Contains(p.err.String(), "More: godwit help\n") })
	for _, want := range []string{"memcached protocol on 0.0.0.0:" + strconv.Itoa(p.port), fmt.Sprintf("| nc 127.0.0.1 %d\n", p.port)} {
		if !strings.Contains(p.err.String(), want) {
			t.Errorf("lacks %q:\n%s", want, p.err)
		}
	}
	// What the announcement says to try.
	talk(t, p.dial(), "set greeting 0 0 5\nhello → STORED", "get greeting → VALUE greeting 0 5\nhello\nEND", "quit → ")
	p.signal(syscall.SIGINT)
	if code := p.end(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

func TestShutdownVerb(t *testing.T) {
	for mode, out := range map[string]string{"shutdown": "", "shutdown graceful": "Gracefully stopping\n"} {
		p := start(t, "-A")
		talk(t, p.dial(), "set a 0 0 1\nx → STORED", mode+" → ")
		if code := p.end(); code != 0 || p.err.String() != out {
			t.Errorf("%s: %d %q", mode, code, p.err)
		}
	}
	p := start(t)
	talk(t, p.dial(), "shutdown → SERVER_ERROR: shutdown not enabled")
}

// TestGraceful has requests on their way when the signal comes: all are answered.
func TestGraceful(t *testing.T) {
	p := start(t)
	c := p.dial()
	talk(t, c, "set a 0 0 1\nx → STORED")
	const n = 2000
	io.WriteString(c, strings.Repeat("get a\r\n", n))
	p.signal(syscall.SIGUSR1)
	data, err := io.ReadAll(c)
	if got := strings.Count(string(data), "END\r\n"); err != nil || got != n {
		t.Errorf("%d of %d requests answered, %v", got, n, err)
	}
	if code := p.end(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

func TestConnectionLimit(t *testing.T) {
	p := start(t, "-c", "10")
	var refused bool
	for range 12 {
		c := p.dial()
		io.WriteString(c, "version\r\n")
		line, _ := bufio.NewReader(c).ReadString('\n')
		refused = refused || line == "ERROR Too many open connections\r\n"
	}
	if !refused {
		t.Error("twelve connections, none refused")
	}
}

func TestUsersReload(t *testing.T) {
	users := filepath.Join(t.TempDir(), "users")
	os.WriteFile(users, []byte("u:one\n"), 0o600)
	p := start(t, "-Y", users)
	login := func(pass string) string {
		c := p.dial()
		fmt.Fprintf(c, "set k 0 0 %d\r\nu %s\r\n", len(pass)+2, pass)
		line, _ := bufio.NewReader(c).ReadString('\n')
		return strings.TrimSpace(line)
	}
	if got := login("one"); got != "STORED" {
		t.Error(got)
	}
	os.WriteFile(users, []byte("u:two\n"), 0o600)
	p.signal(syscall.SIGHUP)
	p.await("the new password", func() bool { return login("two") == "STORED" })
	if got := login("one"); got != "CLIENT_ERROR authentication failure" {
		t.Error("the old password: " + got)
	}
	os.WriteFile(users, []byte("rubbish\n"), 0o600)
	p.signal(syscall.SIGHUP)
	p.await("the error", func() bool { return strings.Contains(p.err.String(), "malformed") })
	if got := login("two"); got != "STORED" {
		t.Error("after a file that cannot be used: " + got)
	}
}

func TestUDP(t *testing.T) {
	port := strconv.Itoa(freePort(t))
	start(t, "-l", "127.0.0.1", "-p", port, "-U", port)
	c, err := net.Dial("udp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	c.Write([]byte("\x12\x34\x00\x00\x00\x01\x00\x00version\r\n"))
	buf := make([]byte, 2000)
	n, err := c.Read(buf)
	if err != nil || string(buf[:n]) != "\x12\x34\x00\x00\x00\x01\x00\x00VERSION 1.6.45\r\n" {
		t.Errorf("%q %v", buf[:n], err)
	}
}

// certificate writes a self-signed certificate of that name with its key.
func certificate(t *testing.T, name, crtFile, keyFile string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour)}
	crt, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, _ := x509.MarshalPKCS8PrivateKey(key)
	os.WriteFile(crtFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: crt}), 0o600)
	os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600)
}

func TestTLS(t *testing.T) {
	dir := t.TempDir()
	crt, key := filepath.Join(dir, "crt"), filepath.Join(dir, "key")
	certificate(t, "one", crt, key)
	secure, plain, mutual := freePort(t), freePort(t), freePort(t)
	p := start(t, "-Z", "-o", "ssl_chain_cert="+crt+",ssl_key="+key,
		"-l", fmt.Sprintf("127.0.0.1:%d,notls:127.0.0.1:%d,mtls:127.0.0.1:%d", secure, plain, mutual))
	dial := func(port int) *tls.Conn {
		c, err := tls.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(10 * time.Second))
		return c
	}
	served := func() string { return dial(secure).ConnectionState().PeerCertificates[0].Subject.CommonName }

	first := dial(secure)
	talk(t, first, "set a 0 0 1\nx → STORED", "get a → VALUE a 0 1\nx\nEND")
	p.port = plain
	talk(t, p.dial(), "get a → VALUE a 0 1\nx\nEND")
	c := dial(mutual)
	io.WriteString(c, "version\r\n")
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("mtls: a client without a certificate is served")
	}

	certificate(t, "two", crt, key)
	talk(t, first, "refresh_certs → OK")
	if got := served(); got != "two" {
		t.Errorf("after refresh_certs: certificate %s", got)
	}
	certificate(t, "three", crt, key)
	p.signal(syscall.SIGHUP)
	p.await("the third certificate", func() bool { return served() == "three" })
	os.Remove(key)
	talk(t, first, "refresh_certs → Error loading the key: "+key+" : No such file or directory")
	p.signal(syscall.SIGHUP)
	p.await("the error", func() bool { return strings.Contains(p.err.String(), "Could not reload TLS certificates on SIGHUP: ") })
	if got := served(); got != "three" {
		t.Errorf("after a failure: certificate %s", got)
	}
	talk(t, first, "get a → VALUE a 0 1\nx\nEND") // its connection has outlived it all
}
