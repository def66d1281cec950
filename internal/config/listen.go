package config

import "strings"

// parseListen cuts -l into its listeners. Errors are those of memcached, which finds them while it binds.
func (p *parser) parseListen() *Exit {
	for _, entry := range strings.FieldsFunc(p.m.InterText, func(r rune) bool { return r == ',' || r == ';' }) {
		l, why := p.m.parseListener(entry)
		if why != "" {
			return bad(ExitOS, "%sfailed to listen on one of interface(s) %s: Success", why, p.m.InterText)
		}
		p.m.Inter = append(p.m.Inter, l)
	}
	return nil
}

// tlsPrefixes say for one listener whether it speaks TLS. The name in the error of mtls is memcached's.
var tlsPrefixes = []struct {
	word, name string
	mode       ListenTLS
}{{"notls", "notls", TLSNone}, {"btls", "btls", TLSBasic}, {"mtls", "otls", TLSMutual}}

// parseListener reads [notls:|btls:|mtls:][proto[…]:][tag[…]:]host[:port]. why is the error text, with its line end.
func (m *Memcached) parseListener(s string) (l Listen, why string) {
	l.Proto = m.Protocol
	for _, t := range tlsPrefixes {
		if strings.HasPrefix(s, t.word) {
			if !m.TLS {
				return l, "'" + t.name + "' option is valid only when SSL is enabled\n"
			}
			l.TLS = t.mode
			s = from(s, len(t.word)+1)
			break
		}
	}
	if rest, ok := strings.CutPrefix(s, "proto"); ok {
		if s, why = m.listenerProtocol(&l, rest); why != "" {
			return l, why
		}
	}
	if rest, ok := strings.CutPrefix(s, "tag"); ok {
		if s, why = listenerTag(&l, rest); why != "" {
			return l, why
		}
	}
	if why = listenerHost(&l, s); why != "" {
		return l, why
	}
	if l.Host == "*" {
		l.Host = ""
	}
	return l, ""
}

// from is s without its first n bytes.
func from(s string, n int) string { return s[min(n, len(s)):] }

func (m *Memcached) listenerProtocol(l *Listen, s string) (rest, why string) {
	if !strings.HasPrefix(s, "[") {
		return s, ""
	}
	name, rest, ok := strings.Cut(s[1:], "]")
	if !ok {
		return "", "Invalid protocol spec: \"" + s + "\"\n"
	}
	switch { // shortened names count, even the empty one
	case strings.HasPrefix("ascii", name):
		l.Proto = ASCII
	case strings.HasPrefix("binary", name):
		if m.AuthFile != "" {
			return "", "Cannot use binary protocol when ascii authentication enabled\n"
		}
		l.Proto = Binary
	case strings.HasPrefix("negotiating", name):
		l.Proto = Auto
		if m.AuthFile != "" {
			l.Proto = ASCII
		}
	case strings.HasPrefix("proxy", name):
		shown, _, _ := strings.Cut(m.InterText, "]") // memcached has cut its string there by now
		return "", "Server not built with proxy: \"" + shown + "\"\n"
	}
	return from(rest, 1), ""
}

func listenerTag(l *Listen, s string) (rest, why string) {
	if !strings.HasPrefix(s, "[") && !strings.HasPrefix(s, "_") {
		return s, ""
	}
	end := strings.IndexByte(s, ']')
	if end < 0 {
		if end = strings.IndexByte(s[1:], '_'); end < 0 {
			return "", "Invalid tag in socket config: \"" + s + "\"\n"
		}
		end++
	}
	l.Tag = s[1:end]
	if len(l.Tag) > 8 || len(l.Tag) < 1 {
		return "", "Listener tags must be between 1 and 8 characters: \"" + l.Tag + "\"\n"
	}
	return from(s, end+2), ""
}

func listenerHost(l *Listen, s string) (why string) {
	bracketed := strings.HasPrefix(s, "[")
	if bracketed {
		host, rest, ok := strings.Cut(s[1:], "]")
		if !ok {
			return "Invalid IPV6 address: \"" + s + "\"" // memcached ends no line here
		}
		l.Host, s = host, rest
	}
	host, port, ok := strings.Cut(s, ":")
	if !ok || !bracketed && strings.Contains(port, ":") { // no port, or an IPv6 address without brackets
		host = s
	} else if l.Port, ok = i32(port); !ok {
		return "Invalid port number: \"" + port + "\"\n"
	} else {
		l.PortGiven = true
	}
	if !bracketed {
		l.Host = host
	}
	return ""
}
