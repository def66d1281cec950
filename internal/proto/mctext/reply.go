package mctext

import "godwit/internal/bytesx"

// AppendValueHead appends the line in front of a value of n bytes.
func AppendValueHead(b, key []byte, flags uint32, n int) []byte {
	b = appendValueHead(b, key, flags, n)
	return append(b, '\r', '\n')
}

// AppendValueHeadCAS is AppendValueHead of gets and gats.
func AppendValueHeadCAS(b, key []byte, flags uint32, n int, cas uint64) []byte {
	b = appendValueHead(b, key, flags, n)
	b = append(b, ' ')
	b = bytesx.AppendUint(b, cas)
	return append(b, '\r', '\n')
}

func appendValueHead(b, key []byte, flags uint32, n int) []byte {
	b = append(b, "VALUE "...)
	b = append(b, key...)
	b = append(b, ' ')
	b = bytesx.AppendUint(b, uint64(flags))
	b = append(b, ' ')
	return bytesx.AppendUint(b, uint64(n))
}

// AppendStat appends one line of statistics.
func AppendStat(b []byte, name, value string) []byte {
	b = append(b, "STAT "...)
	b = append(b, name...)
	b = append(b, ' ')
	b = append(b, value...)
	return append(b, '\r', '\n')
}

// AppendFlag appends a return flag of a meta reply that has a number.
func AppendFlag(b []byte, c byte, v uint64) []byte {
	b = append(b, ' ', c)
	return bytesx.AppendUint(b, v)
}
