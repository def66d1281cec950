package memtier

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"godwit/internal/config"
)

// lookupTime is how long names are looked up.
const lookupTime = 10 * time.Second

// Prepare reads the files that the options name and looks up the names of servers. It returns how to exit if one is of
// no use.
func (o *Options) Prepare(prog string) *config.Exit {
	for _, f := range []func(*Options) *problem{prepareMonitor, prepareImport, prepareToken, prepareServers} {
		if bad := f(o); bad != nil {
			return bad.exit(prog)
		}
	}
	return nil
}

// because is the cause of an error about a file, without the file's name.
func because(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

func prepareMonitor(o *Options) *problem {
	if o.MonitorInput == "" {
		return nil
	}
	at := "--monitor-input=" + quoteBytes(o.MonitorInput)
	file, err := os.Open(o.MonitorInput)
	if err != nil {
		return setup("%s: %w; give a file that redis-cli monitor has written", at, because(err))
	}
	defer file.Close()
	m, err := ReadMonitor(file)
	switch {
	case err != nil:
		return setup("%s: %w", at, because(err))
	case m.Whole == 0:
		return setup("%s: has no command; give a file that redis-cli monitor has written", at)
	}
	o.Monitor = m
	first, broken := 0, len(m.Commands)-m.Whole
	for i := range m.Commands {
		if m.Commands[i].Bad != nil {
			first = i
			break
		}
	}
	for i := range o.Commands {
		c := &o.Commands[i]
		switch n := c.Monitor; {
		case n > len(m.Commands):
			return setup("--command=%s: the file has %d commands; use a number of 1 to %d, or __monitor_line@__", quoteBytes(c.Text), len(m.Commands), len(m.Commands))
		case n > 0 && m.Commands[n-1].Bad != nil:
			return setup("--command=%s: line %d of %s %w", quoteBytes(c.Text), m.Commands[n-1].Line, o.MonitorInput, m.Commands[n-1].Bad)
		case n == AnyMonitor && broken > 0:
			o.warn("%s: skips %d broken commands, the first on line %d, which %v", at, broken, m.Commands[first].Line, m.Commands[first].Bad)
			broken = 0
		}
	}
	if names, _, _ := o.CommandRows(); len(names) > maxCommands {
		return setup("%s: has %d kinds of commands, and results have room for %d; use a part of the file", at, len(names), maxCommands)
	}
	return nil
}

func prepareImport(o *Options) *problem {
	if o.DataImport == "" {
		return nil
	}
	at := "--data-import=" + quoteBytes(o.DataImport)
	file, err := os.Open(o.DataImport)
	if err != nil {
		return setup("%s: %w; give a file with items as CSV", at, because(err))
	}
	defer file.Close()
	if o.GenerateKeys {
		im, err := NewImporter(file, o.DataImport)
		if err == nil {
			_, err = im.Next()
		}
		if err == io.EOF {
			return setup("%s: has no items behind its first line; give a file that has", at)
		}
		if err != nil {
			return setup("--data-import: %w", err)
		}
		return nil
	}
	o.ImportedKeys, err = ImportKeys(file, o.DataImport)
	switch {
	case err != nil:
		return setup("--data-import: %w", err)
	case len(o.ImportedKeys) == 0:
		return setup("%s: has no items behind its first line; give a file that has", at)
	}
	if o.Protocol.RESP() {
		return nil
	}
	for i, key := range o.ImportedKeys {
		if len(key) > maxKeyLength {
			return setup("%s: key %d, %s, has %d bytes, and memcached takes %d; shorten or delete it", at, i+1, quoteBytes(string(key)), len(key), maxKeyLength)
		}
	}
	return nil
}

func prepareToken(o *Options) *problem {
	if o.AgentTokenFile == "" {
		return nil
	}
	at := "--agent-token-file=" + quoteBytes(o.AgentTokenFile)
	data, err := os.ReadFile(o.AgentTokenFile)
	switch {
	case err != nil:
		return setup("%s: %w; give the file that godwit agent was started with", at, because(err))
	case strings.TrimSpace(string(data)) == "":
		return setup("%s: is empty; give the file that godwit agent was started with", at)
	}
	o.AgentToken = strings.TrimSpace(string(data))
	return nil
}

func prepareServers(o *Options) *problem {
	switch {
	case len(o.Agents) > 0: // the servers are to be there for the agents
		return nil
	case o.UnixSocket != "":
		if info, err := os.Stat(o.UnixSocket); err != nil {
			return setup("%s: %w; start the server or give the socket that it has", o.is("unix-socket"), because(err))
		} else if info.Mode()&fs.ModeSocket == 0 {
			return setup("%s: is no socket; give the socket of a server", o.is("unix-socket"))
		}
		return nil
	case o.Servers != nil:
		for _, s := range o.Servers {
			host, port, _ := net.SplitHostPort(s)
			list, err := o.lookup(host, port)
			if err != nil {
				return setup("%s: %q: %w; give a host that exists", o.is("servers"), host, err)
			}
			o.Addresses = append(o.Addresses, list)
		}
		return nil
	}
	list, err := o.lookup(o.Server, strconv.Itoa(o.Port))
	if err != nil {
		return setup("--server=%s: %w; give a host that exists", quoteBytes(o.Server), err)
	}
	o.Addresses = [][]string{list}
	return nil
}

// lookup gives the addresses that a host has.
func (o *Options) lookup(host, port string) ([]string, error) {
	network := map[Family]string{IPv4: "ip4", IPv6: "ip6"}[o.Family]
	if network == "" {
		network = "ip"
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, network, host)
	if err != nil {
		if dns, ok := errors.AsType[*net.DNSError](err); ok {
			return nil, errors.New(dns.Err)
		}
		return nil, err
	}
	list := make([]string, len(ips))
	for i, ip := range ips {
		list[i] = net.JoinHostPort(ip.Unmap().String(), port)
	}
	return list, nil
}
