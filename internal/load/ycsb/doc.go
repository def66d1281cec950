// Package ycsb is the command line of godwit ycsb, which does the work of YCSB and of go-ycsb against memcached and against
// servers that speak RESP: the core workloads A to F and all others that properties can describe, the key distributions of
// YCSB, its record layouts in the servers, its text and JSON outputs and go-ycsb's. Main runs it, here or on
// several machines (load/face); Plan makes the load.Plan, for one machine or for a share of several.
//
// The way of a command line: parseArgs (args.go) finds properties on it and in files (properties.go), readSettings
// (settings.go) makes settings of them, newJob (job.go) makes a Plan of those, with a thread (thread.go) as the Source of each
// connection, and report.go prints the rows of the result as sections.
//
// A thread of YCSB is a connection with one request at a time. Operations that take several requests (an insert into a Redis
// hash and its index, a scan, read-modify-write) are load.Spans; their requests have rows of their own.
//
// Sources: YCSB 0.18 (CoreWorkload, Client, MemcachedClient, RedisClient, the exporters), go-ycsb (prop.go, db/redis,
// pkg/measurement).
package ycsb
