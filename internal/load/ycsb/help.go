package ycsb

import (
	"fmt"
	"io"
	"strings"
)

// help teaches.
func help(prog string, w io.Writer) {
	fmt.Fprint(w, strings.ReplaceAll(helpText, "PROG", prog))
}

const helpText = `PROG: the YCSB workloads against memcached and Redis protocol servers

  PROG load memcached a                 put 1000 records of 1 KB into localhost:11211
  PROG run memcached a                  do 1000 operations of workload A on them
  PROG load redis e -p redis.host=db1 -p recordcount=1000000 -threads 16
  PROG run redis e -p redis.host=db1 -p recordcount=1000000 -p operationcount=1000000 -threads 16 -s
  PROG run memcached b -p memcached.hosts=db1,db2:11212 -p maxexecutiontime=60 -p operationcount=0 -threads 32 -target 50000
  PROG run redis -P workloads/workloada -p redis.addr=localhost:6379 --threads 8 --interval 1 -p outputstyle=table

Command lines of YCSB and of go-ycsb are understood; options may have one dash or two.

  load | run [memcached | redis] [a..f]   phase, server and workload (also -load, -t, --workload a)
  -P file            properties of a workload file (Java's syntax); a name such as workloads/workloada works without the file
  -p name=value      a property; counts more than those of files
  -threads n         threads: connections with one request at a time each (1)
  -target n          operations per second of all threads together (0: as many as the server takes)
  -s                 a status line on stderr every status.interval seconds; --interval n sets that, too
  -l label           text at the beginning of status lines
  --top              a screen of its own instead, q ends the run; --quiet: no progress line on a terminal
  --agents list      share threads, operations and records out to machines where godwit agent runs: host or host:port, with
                     commas between; --agent-token-file file: their secret

Workloads          read  update  insert  scan  read-modify-write   keys
  a  sessions       .5     .5                                      zipfian
  b  tags           .95    .05                                     zipfian
  c  profiles       1                                              zipfian
  d  news           .95            .05                             latest
  e  threads                       .05    .95                      zipfian, scans of 1 to 100 records; redis only
  f  users          .5                           .5                zipfian
  Usual order: load, a, b, c, f, d; then a server without data, load, e. d and e add records.

Properties: how much
  recordcount, operationcount, insertstart, insertcount, maxexecutiontime, warmuptime (seconds, not counted), threadcount,
  target, seed (1: the same run again), loops (event loops of the program itself)
Properties: what
  readproportion, updateproportion, insertproportion, scanproportion, readmodifywriteproportion
  requestdistribution  uniform, zipfian, latest, hotspot, exponential, sequential
  zipfianconstant (0.99) and zipfian=ycsb|exact: YCSB's zipfian is drawn over 10^10 items and hashed, which makes it flatter
                       than its name says; exact is a true zipf over the records
  hotspotdatafraction, hotspotopnfraction, exponential.percentile, exponential.frac
  minscanlength, maxscanlength, scanlengthdistribution
  fieldcount, fieldlength, minfieldlength, fieldlengthdistribution (constant, uniform, zipfian, histogram),
  fieldlengthhistogram, fieldnameprefix, readallfields, writeallfields, table, keyprefix, insertorder, zeropadding
  keyformat            ycsb: TABLE-userN in memcached, userN in redis; go-ycsb: TABLE/userN; plain: userN
  dataintegrity=true   values derived from key and field, compared when read; to be given to load, too
  missesfail=false     reads that find nothing are no failures (a cache that may evict)
Properties: memcached
  memcached.hosts      host, host:port or a path, several with commas: a key belongs to server FNV-1a(key) mod their number,
                       and each thread keeps to one server
  memcached.protocol   text, binary, meta
  memcached.objectExpirationTime, memcached.encoding (json as in YCSB, compact)
  memcached.update     replace: with writeallfields=false an update leaves only the field that it writes, as in YCSB;
                       merge: it reads the record, changes the field and writes it back, as one operation of two requests
Properties: redis
  redis.host, redis.port or redis.addr, redis.network (tcp, unix), redis.username, redis.password, redis.db, redis.tls_ca,
  redis.tls_cert, redis.tls_key, redis.tls_insecure_skip_verify
  redis.datatype       hash; string: JSON text
  redis.index=false    without the sorted set _indices that inserts write and scans need: an insert is one request then
Properties: output
  measurement.interval op, intended (from when an operation was planned; needs -target) or both
  exporter             text, json, jsonarray (json always has intended latencies when there is a -target); exportfile
  outputstyle          plain, table, json: as go-ycsb prints
  hdrhistogram.percentiles (50,95,99), hdrhistogram.fileoutput, hdrhistogram.output.path, measurementtype, status.interval,
  reportlatencyforeacherror, latencytrackederrors, measurement.requests=true (sections for the requests of operations that
  need several)

  godwit.serverstats=false  do not hold the server's own counters against those of the run (warnings; in JSON under server)

Exit status: 0 all went well; 1 operations failed, found nothing, or nothing ran; 2 the command line is wrong; 130 interrupted.
`
