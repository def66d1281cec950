// Package crusher is the command line of godwit crusher, which takes the place of mc-crusher and the helpers that come with
// it: loads for memcached by templates of connections, a file with one template per line.
//
//	conf.go, conf_keys.go   the conf file: a table of keys, problems with file and line
//	options.go, help.go     the command line
//	plan.go, source.go      templates made a load.Plan
//	main.go                 Main, and a run (load/face): here or on other machines, result, exit status
//	report.go, text.go      what was measured, as JSON and for people
//	servers.go              the servers, and what of a run their counters can be held against
//	warmer.go, sampler.go, rates.go, balloon.go, zipf.go   the helpers
//
// Where mc-crusher would crash, hang, or silently do something else than the file says, this one says so; see Plan for the
// other differences. Called by package cli, and through Plan by those who run one load from several machines.
package crusher
