// Package keys draws what load generators ask for: which key (Indices), what it is called (Names), how long its value is
// (Sizes) and what the value holds (Values, Verifier). It sends nothing and knows no protocol. load/memtier, load/crusher
// and load/ycsb choose among its laws by their users' words; a Source of package load owns the generators of its connection.
//
// Constructors check the parameters and return a prototype. Each client takes a copy of it and calls Seed on the copy with
// the seed of the run and a stream of its own (see Stream), so that no two clients issue the same sequence and the same
// seed repeats a run:
//
//	hot, err := keys.Zipf(0, 9_999_999, 0.99)
//	...
//	mine := hot
//	mine.Seed(seed, keys.Stream(client, keys.Reads))
//	key = names.Append(key[:0], mine.Next())
//
// Indices, Sizes, Values and Rand belong to one client. Cursor, Inserts, Block, Names and Verifier are shared by as many as
// like. Drawing allocates nothing and makes no interface calls.
//
// Ranges of indices are inclusive at both ends and may be as wide as all of uint64. Laws that compute in floating point
// (Gauss, Zipf and their kin) give, beyond 2^53 indices, only those that a float64 can tell apart.
//
// Sources of the laws: memtier_benchmark's obj_gen.cpp, mc-crusher.c and YCSB's package site.ycsb.generator for what
// each pattern means; Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
// distributions", ACM TOMACS 6 (1996), for Zipf; Gray and others, "Quickly generating billion-record synthetic databases",
// SIGMOD 1994, for YCSB's approximation of it; Lemire, "Fast random integer generation in an interval", ACM TOMACS 29
// (2019), for uniform integers; Marsaglia's polar form of Box and Muller for Gauss.
package keys
