package ycsb

import (
	"fmt"
	"strings"
)

// idle are properties of YCSB and go-ycsb that change nothing here, with the reason. Each is told once.
var idle = map[string]string{
	"db":                                     "the database is named behind load or run",
	"dotransactions":                         "load and run say that",
	"measurement.trackjvm":                   "there is no Java machine",
	"spin.sleep":                             "planned requests are kept to microseconds without spinning",
	"silence":                                "errors are counted and shown once",
	"verbose":                                "nothing to say more of",
	"debug.pprof":                            "no port is opened",
	"hdrhistogram.sig":                       "there are always 3 digits",
	"core_workload_insertion_retry_interval": "failed inserts are not tried again",
	"memcached.checkOperationStatus":         "answers are always looked at",
	"memcached.readBufferSize":               "buffers grow as needed",
	"memcached.opTimeoutMillis":              "requests are waited for to the end of the run, and what comes late is counted as late",
	"memcached.shutdownTimeoutMillis":        "connections are closed when their last answer is there",
	"memcached.failureMode":                  "a lost connection is an error of the run",
	"redis.timeout":                          "requests are waited for to the end of the run",
	"redis.dial_timeout":                     "it is 10 s",
	"redis.read_timeout":                     "requests are waited for to the end of the run",
	"redis.write_timeout":                    "requests are waited for to the end of the run",
	"redis.pool_size":                        "each thread has one connection",
	"redis.min_idle_conns":                   "each thread has one connection",
	"redis.max_idle_conns":                   "each thread has one connection",
	"redis.max_conn_age":                     "connections stay",
	"redis.pool_timeout":                     "each thread has one connection",
	"redis.idle_timeout":                     "connections stay",
	"redis.idle_check_frequency":             "connections stay",
	"redis.max_retries":                      "a failed request is counted, not repeated",
	"redis.min_retry_backoff":                "a failed request is counted, not repeated",
	"redis.max_retry_backoff":                "a failed request is counted, not repeated",
	"redis.max_redirects":                    "clusters are not supported",
	"redis.read_only":                        "clusters are not supported",
	"redis.route_by_latency":                 "clusters are not supported",
	"redis.route_randomly":                   "clusters are not supported",
}

// bindings are the first words of properties of YCSB's and go-ycsb's other databases, and of their workloads.
var bindings = strings.Fields(`accumulo aerospike arangodb as asynchbase azurecosmos azuretablestorage badger basicdb boltdb
	cassandra cloudspanner couchbase couchbase2 couchdb crail dynamodb elasticsearch etcd fdb foundationdb gae geode
	googlebigtable googledatastore griddb hazelcast hbase hypertable ignite infinispan jdbc kudu maprdb maprjsondb minio mongodb
	mysql nosqldb orientdb pegasus pg postgrenosql postgresql rados raw rest riak rocksdb s3 scylla seaweedfs solr spanner
	sqlite tablestore tarantool tidb tikv voldemort voltdb basicdb yugabyte zookeeper`)

// warning is what to say of a property that changes nothing; "" if it does something.
func warning(p *property) string {
	if why, ok := idle[p.name]; ok {
		return fmt.Sprintf("%s: %s has no effect: %s", p.where, p.name, why)
	}
	first, _, dotted := strings.Cut(p.name, ".")
	if dotted {
		for _, b := range bindings {
			if first == b {
				return fmt.Sprintf("%s: %s has no effect: it belongs to another database", p.where, p.name)
			}
		}
	}
	return ""
}
