package memtier

import (
	"fmt"
	"strings"

	"godwit/internal/load/memtier/output"
)

// Config is the object "configuration" of the JSON: the names, their order and the types are those of memtier_benchmark
// 2.3.0. Our own options follow, if they are given. Passwords are ***.
func (o *Options) Config() []output.Setting {
	list := append(o.address(),
		output.Setting{Name: "out_file", Value: orNil(o.OutFile)})
	list = append(list, o.tlsSettings()...)
	list = append(list, o.common()...)
	list = append(list, output.Setting{Name: "print-all-runs", Value: o.PrintAllRuns})
	if o.ClientsStart != 0 {
		list = append(list,
			output.Setting{Name: "clients_start", Value: o.ClientsStart},
			output.Setting{Name: "clients_step", Value: o.ClientsStep},
			output.Setting{Name: "step_duration", Value: o.StepDuration})
	}
	return append(list, o.more(func(r *row) bool { return r.Own })...)
}

// Shown are the settings for --show-config: those of the JSON as memtier_benchmark orders them there, and every
// option given that is not among them.
func (o *Options) Shown() []output.Setting {
	list := append(o.address(), o.tlsSettings()...)
	list = append(list, output.Setting{Name: "out_file", Value: orNil(o.OutFile)})
	for _, s := range o.common() {
		if s.Name != "key_zipf_exp" {
			list = append(list, s)
		}
	}
	list = append(list,
		output.Setting{Name: "json-out-file", Value: orNil(o.JSONOutFile)},
		output.Setting{Name: "print-all-runs", Value: o.PrintAllRuns})
	have := map[string]bool{"rate_limiting": true, "ipv4": true, "ipv6": true, "show_config": true} // rate_limit, address family
	for _, s := range list {
		have[underscores(s.Name)] = true
	}
	return append(list, o.more(func(r *row) bool { return !have[underscores(r.Long)] })...)
}

func underscores(s string) string { return strings.NewReplacer("-", "_", " ", "_").Replace(s) }

// more are the options given that the filter lets through, by their long names, with their values as given.
func (o *Options) more(filter func(*row) bool) (list []output.Setting) {
	for i := range table {
		r := &table[i]
		if r.Alias != "" || !o.Given(r.Long) || !filter(r) {
			continue
		}
		var value any = true
		if args := o.given[r.Long]; r.Meta != "" {
			value = strings.Join(args, "; ")
		}
		list = append(list, output.Setting{Name: r.Long, Value: value})
	}
	return list
}

func (o *Options) address() []output.Setting {
	server := o.Server
	if o.Servers != nil {
		server = strings.Join(o.Servers, ",")
	}
	return []output.Setting{
		{Name: "server", Value: orNil(server)},
		{Name: "port", Value: o.Port},
		{Name: "uri", Value: masked("uri", o.URI)},
		{Name: "unix socket", Value: orNil(o.UnixSocket)},
		{Name: "address family", Value: string(o.Family)},
		{Name: "protocol", Value: string(o.Protocol)},
	}
}

func (o *Options) tlsSettings() []output.Setting {
	return []output.Setting{
		{Name: "tls", Value: o.TLS},
		{Name: "cert", Value: orNil(o.Cert)},
		{Name: "key", Value: orNil(o.Key)},
		{Name: "cacert", Value: orNil(o.CACert)},
		{Name: "tls_skip_verify", Value: o.TLSSkipVerify},
		{Name: "sni", Value: orNil(o.SNI)},
	}
}

func (o *Options) common() []output.Setting {
	login := ""
	if o.Authenticate {
		login = "***"
		if o.User != "" {
			login = o.User + ":***"
		}
	}
	zipf := 0.0
	if o.Given("key-zipf-exp") {
		zipf = o.KeyZipfExp
	}
	return []output.Setting{
		{Name: "client_stats", Value: orNil(o.ClientStats)},
		{Name: "run_count", Value: o.RunCount},
		{Name: "debug", Value: o.Debug},
		{Name: "requests", Value: o.requests()},
		{Name: "rate_limit", Value: o.ConnectionRate},
		{Name: "clients", Value: o.Clients},
		{Name: "threads", Value: o.Threads},
		{Name: "test_time", Value: o.TestTime},
		{Name: "ratio", Value: o.Ratio.String()},
		{Name: "pipeline", Value: o.Pipeline},
		{Name: "data_size", Value: o.DataSize},
		{Name: "data_offset", Value: o.DataOffset},
		{Name: "random_data", Value: o.RandomData},
		{Name: "data_size_range", Value: o.DataSizes},
		{Name: "data_size_list", Value: sizeList(o.DataSizeList)},
		{Name: "data_size_pattern", Value: string(rune(o.SizePattern))},
		{Name: "expiry_range", Value: o.Expiry},
		{Name: "data_import", Value: orNil(o.DataImport)},
		{Name: "data_verify", Value: o.DataVerify},
		{Name: "verify_only", Value: o.VerifyOnly},
		{Name: "generate_keys", Value: o.GenerateKeys},
		{Name: "key_prefix", Value: o.KeyPrefix},
		{Name: "key_minimum", Value: output.Wide(o.KeyMin)},
		{Name: "key_maximum", Value: output.Wide(o.KeyMax)},
		{Name: "key_pattern", Value: string(rune(o.SetPattern)) + ":" + string(rune(o.GetPattern))},
		{Name: "key_stddev", Value: o.KeyStddev},
		{Name: "key_median", Value: o.KeyMedian},
		{Name: "key_zipf_exp", Value: zipf},
		{Name: "reconnect_interval", Value: o.ReconnectInterval},
		{Name: "connection_timeout", Value: o.ConnectionTimeout},
		{Name: "thread_conn_start_min_jitter_micros", Value: o.JitterMin},
		{Name: "thread_conn_start_max_jitter_micros", Value: o.JitterMax},
		{Name: "multi_key_get", Value: o.MultiKeyGet},
		{Name: "authenticate", Value: login},
		{Name: "select-db", Value: o.DB},
		{Name: "no-expiry", Value: o.NoExpiry},
		{Name: "wait-ratio", Value: o.WaitRatio.String()},
		{Name: "num-slaves", Value: o.NumSlaves},
		{Name: "wait-timeout", Value: fmt.Sprintf("%d-%d", o.WaitTimeout.From, o.WaitTimeout.To)},
	}
}

// requests of a client, the most if they have not the same number.
func (o *Options) requests() uint64 {
	if !o.AllKeys {
		return o.Requests
	}
	low, high := o.bounds()
	if n := uint64(o.Connections()); o.parted() {
		return (high - low + n) / n
	}
	return high - low + 1
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (r Ratio) String() string { return fmt.Sprintf("%d:%d", r.A, r.B) }

func sizeList(list []Weighted) string {
	var b strings.Builder
	for i, w := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d:%d", w.Size, w.Weight)
	}
	return b.String()
}
