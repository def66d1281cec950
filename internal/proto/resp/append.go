package resp

import (
	"strconv"

	"godwit/internal/bytesx"
)

const crlf = "\r\n"

// AppendArray appends the head of an array, as each command begins with one.
func AppendArray(b []byte, n int) []byte {
	b = append(b, '*')
	b = bytesx.AppendUint(b, uint64(n))
	return append(b, crlf...)
}

// AppendBulk appends a bulk string.
func AppendBulk(b, s []byte) []byte {
	b = append(b, '$')
	b = bytesx.AppendUint(b, uint64(len(s)))
	b = append(b, crlf...)
	b = append(b, s...)
	return append(b, crlf...)
}

// AppendBulkString is AppendBulk of a string.
func AppendBulkString(b []byte, s string) []byte {
	b = append(b, '$')
	b = bytesx.AppendUint(b, uint64(len(s)))
	b = append(b, crlf...)
	b = append(b, s...)
	return append(b, crlf...)
}

// AppendBulkInt appends v in decimal as a bulk string.
func AppendBulkInt(b []byte, v int64) []byte {
	var digits [20]byte
	return AppendBulk(b, strconv.AppendInt(digits[:0], v, 10))
}

// AppendBulkUint appends v in decimal as a bulk string.
func AppendBulkUint(b []byte, v uint64) []byte {
	var digits [20]byte
	return AppendBulk(b, strconv.AppendUint(digits[:0], v, 10))
}

// AppendArgs appends a command.
func AppendArgs(b []byte, args [][]byte) []byte {
	b = AppendArray(b, len(args))
	for _, a := range args {
		b = AppendBulk(b, a)
	}
	return b
}

// AppendCommand appends a command of words.
func AppendCommand(b []byte, words ...string) []byte {
	b = AppendArray(b, len(words))
	for _, w := range words {
		b = AppendBulkString(b, w)
	}
	return b
}

// The commands that loads are made of, with their constant parts in one piece.

// AppendGet appends GET.
func AppendGet(b, key []byte) []byte { return AppendBulk(append(b, "*2\r\n$3\r\nGET\r\n"...), key) }

// AppendSet appends SET.
func AppendSet(b, key, value []byte) []byte {
	return AppendBulk(AppendBulk(append(b, "*3\r\n$3\r\nSET\r\n"...), key), value)
}

// AppendSetEx appends SETEX: the value lives for some seconds.
func AppendSetEx(b, key []byte, seconds uint32, value []byte) []byte {
	b = AppendBulk(append(b, "*4\r\n$5\r\nSETEX\r\n"...), key)
	return AppendBulk(AppendBulkUint(b, uint64(seconds)), value)
}

// AppendGetRange appends GETRANGE. Negative positions count from the end.
func AppendGetRange(b, key []byte, from, to int) []byte {
	b = AppendBulk(append(b, "*4\r\n$8\r\nGETRANGE\r\n"...), key)
	return AppendBulkInt(AppendBulkInt(b, int64(from)), int64(to))
}

// AppendSetRange appends SETRANGE.
func AppendSetRange(b, key []byte, at int, value []byte) []byte {
	b = AppendBulk(append(b, "*4\r\n$8\r\nSETRANGE\r\n"...), key)
	return AppendBulk(AppendBulkInt(b, int64(at)), value)
}

// AppendMGet appends MGET.
func AppendMGet(b []byte, keys [][]byte) []byte {
	b = append(AppendArray(b, len(keys)+1), "$4\r\nMGET\r\n"...)
	for _, k := range keys {
		b = AppendBulk(b, k)
	}
	return b
}

// AppendDel appends DEL of one key.
func AppendDel(b, key []byte) []byte { return AppendBulk(append(b, "*2\r\n$3\r\nDEL\r\n"...), key) }

// AppendExpire appends EXPIRE.
func AppendExpire(b, key []byte, seconds uint32) []byte {
	return AppendBulkUint(AppendBulk(append(b, "*3\r\n$6\r\nEXPIRE\r\n"...), key), uint64(seconds))
}

// AppendPersist appends PERSIST.
func AppendPersist(b, key []byte) []byte {
	return AppendBulk(append(b, "*2\r\n$7\r\nPERSIST\r\n"...), key)
}

// AppendIncrBy appends INCRBY.
func AppendIncrBy(b, key []byte, delta uint64) []byte {
	return AppendBulkUint(AppendBulk(append(b, "*3\r\n$6\r\nINCRBY\r\n"...), key), delta)
}

// AppendDecrBy appends DECRBY.
func AppendDecrBy(b, key []byte, delta uint64) []byte {
	return AppendBulkUint(AppendBulk(append(b, "*3\r\n$6\r\nDECRBY\r\n"...), key), delta)
}

// AppendWait appends WAIT for a number of replicas, for so many milliseconds.
func AppendWait(b []byte, replicas, milliseconds int) []byte {
	b = append(b, "*3\r\n$4\r\nWAIT\r\n"...)
	return AppendBulkInt(AppendBulkInt(b, int64(replicas)), int64(milliseconds))
}
