// Package differential sends the same random command streams to this server and to a memcached, and compares the replies
// byte for byte. CAS ids are compared by equality, times with a few seconds of grace. A stream that differs is shrunk.
//
//	go test ./test/conformance/differential                                    a few hundred streams, against memcached of PATH
//	GODWIT_MEMCACHED=/path go test ./test/conformance/differential -streams 9000 -seed 1
//
// Texts of errors changed between versions of memcached and 1.6.45 is the reference. Against an older one only valid commands
// are compared; for the rest there are testdata/recorded-*.gz, streams with the replies that 1.6.45 gave:
//
//	GODWIT_MEMCACHED=/path/of/1.6.45 go test ./test/conformance/differential -record -run Record
package differential
