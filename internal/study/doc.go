// Package study runs a study: servers started one after the other or beside each other, filled, loaded and measured, a
// search for the most that keeps a promised latency, and interleaved runs that compare them. What is measured goes into a raw
// file (package raw), from which package report makes everything else. It sees servers as processes and by their ports only.
// Called by cli.
//
//	file.go     the study file
//	presets.go  those that are built in
//	client.go   one window of load, in a process of its own
//	server.go   servers as processes
//	run.go      what is measured when
//	search.go   searches, each probe one window
//	main.go     the command line
package study
