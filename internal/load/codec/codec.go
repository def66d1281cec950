// Package codec speaks the protocols of the servers under load, client side: memcached's text, meta and binary protocols
// and RESP, each as a load.Codec. A codec belongs to one connection. It appends requests and reads answers, allocates
// nothing on the way, and knows neither sockets nor time.
package codec

import (
	"fmt"

	"godwit/internal/load"
)

// New makes the codec that memtier_benchmark's users know as protocol.
func New(protocol string) (load.Codec, error) {
	switch protocol {
	case "redis", "resp2":
		return NewResp(2), nil
	case "resp3":
		return NewResp(3), nil
	case "memcache_text":
		return NewText(), nil
	case "memcache_binary":
		return NewBinary(), nil
	case "memcache_meta":
		return NewMeta(), nil
	}
	return nil, fmt.Errorf("protocol %q: unknown (use redis, resp2, resp3, memcache_text, memcache_binary, memcache_meta)", protocol)
}
