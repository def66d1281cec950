package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/internal/config"
)

// pki makes certificates in a directory.
type pki struct {
	t   *testing.T
	dir string
	ca  *x509.Certificate
	key *ecdsa.PrivateKey
}

func newPKI(t *testing.T) *pki {
	p := &pki{t: t, dir: t.TempDir()}
	p.key = p.newKey()
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, p.key.Public(), p.key)
	if err != nil {
		t.Fatal(err)
	}
	p.ca, _ = x509.ParseCertificate(der)
	p.write("ca", "CERTIFICATE", der)
	return p
}

func (p *pki) newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	return key
}

func (p *pki) path(name string) string { return filepath.Join(p.dir, name) }

func (p *pki) write(name, kind string, der []byte) {
	data := der
	if kind != "" {
		data = pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	if err := os.WriteFile(p.path(name), data, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// issue writes NAME.crt, NAME.key and NAME.der (the key).
func (p *pki) issue(name string) {
	key := p.newKey()
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, p.ca, key.Public(), p.key)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(name+".crt", "CERTIFICATE", der)
	keyDER, _ := x509.MarshalPKCS8PrivateKey(key)
	p.write(name+".key", "PRIVATE KEY", keyDER)
	p.write(name+".der", "", keyDER)
}

func (p *pki) settings() *config.Memcached {
	set := config.Defaults()
	set.TLS, set.SSLChainCert, set.SSLKey, set.SSLCACert = true, p.path("srv.crt"), p.path("srv.key"), p.path("ca")
	return set
}

// shake does a handshake over a pipe and gives the server's certificate name and whether the session was resumed.
func (p *pki) shake(server *tls.Config, client *tls.Config) (name string, resumed bool, err error) {
	pool := x509.NewCertPool()
	pool.AddCert(p.ca)
	client.RootCAs, client.ServerName = pool, "localhost"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s := tls.Server(c, server)
		s.Write([]byte("x"))
		s.Close()
	}()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		p.t.Fatal(err)
	}
	c := tls.Client(nc, client)
	defer c.Close()
	if n, err := c.Read(make([]byte, 1)); n == 0 { // with TLS 1.3 the client learns only here that it was refused
		return "", false, err
	}
	st := c.ConnectionState()
	return st.PeerCertificates[0].Subject.CommonName, st.DidResume, nil
}

func TestVerifyModes(t *testing.T) {
	p := newPKI(t)
	p.issue("srv")
	p.issue("client")
	stranger := newPKI(t)
	stranger.issue("client")
	certs := map[string]*tls.Config{"none": {}}
	for name, from := range map[string]*pki{"good": p, "bad": stranger} {
		cert, err := tls.LoadX509KeyPair(from.path("client.crt"), from.path("client.key"))
		if err != nil {
			t.Fatal(err)
		}
		// Certificates would only send one that the server's list of authorities fits.
		certs[name] = &tls.Config{GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }}
	}
	for _, tc := range []struct {
		verify  int
		mode    config.ListenTLS
		allowed string
	}{
		{0, config.TLSDefault, "none good bad"},
		{1, config.TLSDefault, "none good"},
		{2, config.TLSDefault, "good"},
		{3, config.TLSDefault, "good"},
		{2, config.TLSBasic, "none good bad"},
		{0, config.TLSMutual, "good"},
	} {
		set := p.settings()
		set.SSLVerifyMode = tc.verify
		c, err := loadCerts(set)
		if err != nil {
			t.Fatal(err)
		}
		for name, client := range certs {
			_, _, err := p.shake(c.config(tc.mode), client.Clone())
			if want := slices.Contains(strings.Fields(tc.allowed), name); (err == nil) != want {
				t.Errorf("verify mode %d, listener %d, client certificate %s: %v", tc.verify, tc.mode, name, err)
			}
		}
	}
}

func TestVersionsAndCiphers(t *testing.T) {
	p := newPKI(t)
	p.issue("srv")
	for least, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11, tls.VersionTLS12, tls.VersionTLS13} {
		set := p.settings()
		set.SSLMinVersion = least
		c, err := loadCerts(set)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.shake(c.config(0), &tls.Config{MinVersion: version, MaxVersion: version}); err != nil {
			t.Errorf("least version %d, client at it: %v", least, err)
		}
		if least > 0 {
			if _, _, err := p.shake(c.config(0), &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: version - 1}); err == nil {
				t.Errorf("least version %d, client below it: taken", least)
			}
		}
	}
	for list, want := range map[string]int{
		"ECDHE-ECDSA-AES128-GCM-SHA256":                      1,
		"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,AES128-SHA": 2,
		"AES128-SHA:!AES128-SHA":                             0,
		"NOPE":                                               0,
		"HIGH:!aNULL:!MD5":                                   len(tls.CipherSuites()),
	} {
		if got := cipherSuites(list); len(got) != want {
			t.Errorf("%s: %d suites, want %d", list, len(got), want)
		}
	}
	set := p.settings()
	set.SSLCiphers = "NOPE"
	if _, err := loadCerts(set); err == nil || err.Error() != "Error setting the provided cipher(s): NOPE" {
		t.Error(err)
	}
	set.SSLCiphers = "ECDHE-ECDSA-AES256-GCM-SHA384"
	c, err := loadCerts(set)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.config(0).CipherSuites; !slices.Equal(got, []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384}) {
		t.Error(got)
	}
}

func TestResumption(t *testing.T) {
	p := newPKI(t)
	p.issue("srv")
	for _, cache := range []bool{false, true} {
		set := p.settings()
		set.SSLSessionCache = cache
		c, err := loadCerts(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			client := &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(4), MinVersion: version, MaxVersion: version}
			for try := range 2 {
				_, resumed, err := p.shake(c.config(0), client)
				if err != nil || resumed != (cache && try == 1) {
					t.Errorf("cache %v, TLS %x, connection %d: resumed %v, %v", cache, version, try, resumed, err)
				}
			}
		}
	}
}

func TestReload(t *testing.T) {
	p := newPKI(t)
	p.issue("srv")
	c, err := loadCerts(p.settings())
	if err != nil {
		t.Fatal(err)
	}
	served := func() string {
		name, _, err := p.shake(c.config(config.TLSDefault), &tls.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	p.issue("next")
	for _, ext := range []string{".crt", ".key"} { // half of a new pair must not be served
		if err := os.Rename(p.path("next"+ext), p.path("srv"+ext)); err != nil {
			t.Fatal(err)
		}
		err := c.reload()
		if ext == ".crt" {
			if err == nil || !strings.HasPrefix(err.Error(), "Error validating the certificate: ") || served() != "srv" {
				t.Errorf("after the certificate alone: %v, serving %s", err, served())
			}
		} else if err != nil || served() != "next" {
			t.Errorf("after both: %v, serving %s", err, served())
		}
	}
	for _, tc := range []struct{ file, want string }{
		{"ca", "Error loading the CA certificate: "},
		{"srv.key", "Error loading the key: "},
		{"srv.crt", "Error loading the certificate chain: "},
	} {
		os.WriteFile(p.path(tc.file), []byte("rubbish"), 0o600)
		if err := c.reload(); err == nil || !strings.HasPrefix(err.Error(), tc.want+p.path(tc.file)+" : ") {
			t.Errorf("rubbish in %s: %v", tc.file, err)
		}
		os.Remove(p.path(tc.file))
		if err := c.reload(); err == nil || err.Error() != tc.want+p.path(tc.file)+" : No such file or directory" {
			t.Errorf("without %s: %v", tc.file, err)
		}
	}
	if served() != "next" {
		t.Error("the certificates that could be read are gone")
	}
}

func TestKeyFormats(t *testing.T) {
	p := newPKI(t)
	p.issue("srv")
	set := p.settings()
	set.SSLKey, set.SSLKeyFormat = p.path("srv.der"), keyDER
	if _, err := loadCerts(set); err != nil {
		t.Error("DER:", err)
	}
	crt, _ := os.ReadFile(p.path("srv.crt"))
	key, _ := os.ReadFile(p.path("srv.key"))
	os.WriteFile(p.path("both"), append(crt, key...), 0o600)
	set = p.settings()
	set.SSLChainCert, set.SSLKey = p.path("both"), ""
	if _, err := loadCerts(set); err != nil {
		t.Error("key in the file of the certificate:", err)
	}
	if err := (&Server{}).RefreshCerts(); err == nil || err.Error() != "Error TLS not enabled" {
		t.Error(err)
	}
}
