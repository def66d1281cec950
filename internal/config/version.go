package config

// Version of godwit.
const Version = "0.1.0"

// MemcachedVersion is the version of memcached that the memcached door equals, error texts included.
const MemcachedVersion = "1.6.45"
