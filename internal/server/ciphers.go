package server

import (
	"crypto/tls"
	"slices"
	"strings"
)

// opensslNames are OpenSSL's names of the suites that Go has, beside the standard's own.
var opensslNames = map[string]uint16{
	"ECDHE-ECDSA-AES128-GCM-SHA256": tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	"ECDHE-RSA-AES128-GCM-SHA256":   tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	"ECDHE-ECDSA-AES256-GCM-SHA384": tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	"ECDHE-RSA-AES256-GCM-SHA384":   tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	"ECDHE-ECDSA-CHACHA20-POLY1305": tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
	"ECDHE-RSA-CHACHA20-POLY1305":   tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	"ECDHE-ECDSA-AES128-SHA":        tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA,
	"ECDHE-RSA-AES128-SHA":          tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA,
	"ECDHE-ECDSA-AES256-SHA":        tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA,
	"ECDHE-RSA-AES256-SHA":          tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
	"ECDHE-ECDSA-AES128-SHA256":     tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
	"ECDHE-RSA-AES128-SHA256":       tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256,
	"AES128-GCM-SHA256":             tls.TLS_RSA_WITH_AES_128_GCM_SHA256,
	"AES256-GCM-SHA384":             tls.TLS_RSA_WITH_AES_256_GCM_SHA384,
	"AES128-SHA256":                 tls.TLS_RSA_WITH_AES_128_CBC_SHA256,
	"AES128-SHA":                    tls.TLS_RSA_WITH_AES_128_CBC_SHA,
	"AES256-SHA":                    tls.TLS_RSA_WITH_AES_256_CBC_SHA,
}

// groups are OpenSSL's words for sets of suites; they stand for the suites that Go holds to be good.
var groups = " ALL DEFAULT HIGH MEDIUM COMPLEMENTOFDEFAULT TLSv1.2 ECDHE EECDH kECDHE AESGCM AES CHACHA20 "

// cipherSuites reads a list in OpenSSL's form, as far as it has a meaning here: names and groups joined by colons, spaces
// or commas, "!NAME" and "-NAME" without. Combinations with "+" and unknown names are left out.
func cipherSuites(list string) (suites []uint16) {
	var without []uint16
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return r == ':' || r == ',' || r == ' ' }) {
		switch {
		case word[0] == '!' || word[0] == '-':
			if id, ok := suiteID(word[1:]); ok {
				without = append(without, id)
			}
		case strings.Contains(groups, " "+word+" "):
			for _, s := range tls.CipherSuites() {
				suites = append(suites, s.ID)
			}
		default:
			if id, ok := suiteID(word); ok {
				suites = append(suites, id)
			}
		}
	}
	out := suites[:0]
	for _, id := range suites {
		if !slices.Contains(without, id) {
			out = append(out, id)
		}
	}
	return out
}

func suiteID(name string) (uint16, bool) {
	if id, ok := opensslNames[name]; ok {
		return id, true
	}
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if s.Name == name {
			return s.ID, true
		}
	}
	return 0, false
}
