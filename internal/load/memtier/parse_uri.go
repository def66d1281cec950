package memtier

import (
	"net/url"
	"strings"
)

// uri is an address of Redis, taken apart. What it does not say is empty.
type uri struct {
	tls              bool
	login            bool // there is a user or a password
	user, password   string
	host, port, base string
}

// parseURI reads redis://[[user]:password@]host[:port][/database]; a word alone before @ is a password. The text of its
// error is cause and mend.
func parseURI(s string) (u uri, bad *problem) {
	scheme, rest, ok := strings.Cut(s, "://")
	switch {
	case ok && scheme == "redis":
	case ok && scheme == "rediss":
		u.tls = true
	default:
		return u, setup("does not begin with redis:// or rediss://; use one of them")
	}
	where, base, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(where, '@'); i >= 0 {
		user, password, ok := strings.Cut(where[:i], ":")
		if !ok {
			user, password = "", user
		}
		var err1, err2 error
		u.user, err1 = url.PathUnescape(user)
		u.password, err2 = url.PathUnescape(password)
		if err1 != nil || err2 != nil {
			return u, setup("has a %% in user or password without two hexadecimal digits after it; write %%25 for %%")
		}
		u.login = u.user != "" || u.password != ""
		where = where[i+1:]
	}
	switch {
	case strings.HasPrefix(where, "["):
		host, port, ok := strings.Cut(where[1:], "]")
		if !ok || port != "" && port[0] != ':' {
			return u, setup("has a [ without an address and ] after it; write [::1]:6379")
		}
		u.host, u.port = host, port
		if port != "" {
			u.port = port[1:]
		}
	default:
		u.host, u.port, ok = strings.Cut(where, ":")
		if ok && u.port == "" {
			return u, setup("has no port after the colon; add one of 1 to 65535 or leave the colon out")
		}
	}
	if u.port != "" {
		if _, err := whole(u.port, 1, 65535); err != nil {
			return u, setup("the port %q %w", u.port, err)
		}
	}
	if base != "" {
		if _, err := whole(base, 0, maxInt); err != nil {
			return u, setup("the database %q %w", base, err)
		}
	}
	u.base = base
	return u, nil
}

// applyURI gives the settings that the URI has. It wins over the options for the same, with a warning.
func (o *Options) applyURI() *problem {
	if !o.Given("uri") {
		return nil
	}
	u, bad := parseURI(o.URI)
	if bad != nil {
		bad.text = o.is("uri") + " " + bad.text
		return bad
	}
	wins := func(long string) {
		if o.Given(long) {
			o.warn("%s has no effect: the URI says otherwise", o.is(long))
		}
	}
	if u.host != "" {
		wins("server")
		o.Server = u.host
	}
	if u.port != "" {
		wins("port")
		port, _ := whole(u.port, 1, 65535)
		o.Port = int(port)
	}
	if u.login {
		wins("authenticate")
		o.Authenticate, o.User, o.Password = true, u.user, u.password
	}
	if u.base != "" {
		wins("select-db")
		db, _ := whole(u.base, 0, maxInt)
		o.DB = int(db)
		if o.Cluster && db > 0 {
			return setup("%s: has database %d, and a cluster has database 0 only; leave it out", o.is("uri"), db)
		}
	}
	if !u.tls {
		wins("tls")
	}
	o.TLS = u.tls
	return nil
}

// masked hides the password of --authenticate or --uri.
func masked(long, value string) string {
	if long == "authenticate" {
		user, _, ok := strings.Cut(value, ":")
		switch {
		case value == "":
			return ""
		case ok:
			return user + ":***"
		}
		return "***"
	}
	begin := strings.Index(value, "://")
	end := strings.LastIndexByte(value, '@')
	if begin < 0 || end < begin+3 {
		return value
	}
	begin += 3
	return value[:begin] + masked("authenticate", value[begin:end]) + value[end:]
}
