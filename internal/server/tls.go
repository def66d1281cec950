package server

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"godwit/internal/config"
)

// certs are the TLS configurations of the listeners. They are exchanged as a whole when certificates are read again;
// connections keep the one they began with.
type certs struct {
	set    *config.Memcached
	suites []uint16
	now    atomic.Pointer[loaded]
}

type loaded struct {
	byMode [config.TLSMutual + 1]*tls.Config
	at     time.Time
}

func loadCerts(set *config.Memcached) (*certs, error) {
	c := &certs{set: set}
	if err := c.reload(); err != nil {
		return nil, err
	}
	if set.SSLCiphers != "" {
		if c.suites = cipherSuites(set.SSLCiphers); len(c.suites) == 0 {
			return nil, fmt.Errorf("Error setting the provided cipher(s): %s", set.SSLCiphers)
		}
		return c, c.reload()
	}
	return c, nil
}

func (c *certs) config(mode config.ListenTLS) *tls.Config { return c.now.Load().byMode[mode] }

// age is the number of seconds since the certificates were read.
func (c *certs) age() int64 { return int64(time.Since(c.now.Load().at).Seconds()) }

// reload reads the files. On an error, whose text is memcached's, all stays as it was.
func (c *certs) reload() error {
	set := c.set
	cert, err := loadPair(set)
	if err != nil {
		return err
	}
	cas := x509.NewCertPool() // without authorities no client certificate is good: the system's own are not meant
	if set.SSLCACert != "" {
		data, err := os.ReadFile(set.SSLCACert)
		if err == nil && !cas.AppendCertsFromPEM(data) {
			err = errors.New("no certificate in it")
		}
		if err != nil {
			return fmt.Errorf("Error loading the CA certificate: %s : %s", set.SSLCACert, errText(err))
		}
	}
	base := &tls.Config{
		Certificates: []tls.Certificate{cert}, ClientCAs: cas, CipherSuites: c.suites,
		MinVersion:             tls.VersionTLS10 + uint16(set.SSLMinVersion),
		SessionTicketsDisabled: !set.SSLSessionCache,
		// Modes 1 to 3; Go has no renegotiation, in which "once" would differ.
		ClientAuth: [...]tls.ClientAuthType{tls.NoClientCert, tls.VerifyClientCertIfGiven, tls.RequireAndVerifyClientCert,
			tls.RequireAndVerifyClientCert}[set.SSLVerifyMode],
	}
	next := &loaded{at: time.Now()}
	for mode := range next.byMode {
		next.byMode[mode] = base.Clone()
	}
	next.byMode[config.TLSBasic].ClientAuth = tls.NoClientCert
	next.byMode[config.TLSMutual].ClientAuth = tls.RequireAndVerifyClientCert
	c.now.Store(next)
	return nil
}

// keyDER is the value of ssl_keyformat for a key that is not in PEM format.
const keyDER = 2

func loadPair(set *config.Memcached) (tls.Certificate, error) {
	none := tls.Certificate{}
	if set.SSLChainCert == "" {
		return none, errors.New("Error loading the certificate chain: (null) : no file given")
	}
	chain, err := os.ReadFile(set.SSLChainCert)
	if err != nil {
		return none, fmt.Errorf("Error loading the certificate chain: %s : %s", set.SSLChainCert, errText(err))
	}
	if !hasCertificate(chain) {
		return none, fmt.Errorf("Error loading the certificate chain: %s : no certificate in it", set.SSLChainCert)
	}
	keyFile, key := set.SSLChainCert, chain
	if set.SSLKey != "" {
		keyFile = set.SSLKey
		if key, err = os.ReadFile(keyFile); err != nil {
			return none, fmt.Errorf("Error loading the key: %s : %s", keyFile, errText(err))
		}
		if set.SSLKeyFormat == keyDER {
			if key, err = derToPEM(key); err != nil {
				return none, fmt.Errorf("Error loading the key: %s : %v", keyFile, err)
			}
		}
	}
	cert, err := tls.X509KeyPair(chain, key)
	if err != nil {
		if _, parse := err.(interface{ Unwrap() error }); !parse && hasKey(key) {
			return none, fmt.Errorf("Error validating the certificate: %v", err)
		}
		return none, fmt.Errorf("Error loading the key: %s : %v", keyFile, err)
	}
	return cert, nil
}

func hasCertificate(data []byte) bool {
	for b, rest := pem.Decode(data); b != nil; b, rest = pem.Decode(rest) {
		if b.Type == "CERTIFICATE" {
			return true
		}
	}
	return false
}

func hasKey(data []byte) bool {
	for b, rest := pem.Decode(data); b != nil; b, rest = pem.Decode(rest) {
		if len(b.Type) >= 11 && b.Type[len(b.Type)-11:] == "PRIVATE KEY" {
			return true
		}
	}
	return false
}

// derToPEM wraps a key of any of the three common encodings.
func derToPEM(der []byte) ([]byte, error) {
	var key crypto.PrivateKey
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		if key, err = x509.ParsePKCS1PrivateKey(der); err != nil {
			if key, err = x509.ParseECPrivateKey(der); err != nil {
				return nil, errors.New("no private key in DER format")
			}
		}
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), nil
}
