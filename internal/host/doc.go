// Package host knows the machine: its facts, for reports that would mean nothing without them (Facts), what it is busy with
// while something is measured (Meter), and which cores who runs on (Set, Split, Pin).
//
// A fact that cannot be read is absent, never guessed: fields are then zero or nil, and left out of JSON and text. What was
// there but could not be read, mostly for lack of rights, is listed in Unread.
//
// Linux has all of it, from /proc and /sys. On other systems Facts gives what Go and the processor say of themselves, and
// Meter and Pin are refused.
package host
