// Package resp is the wire protocol of Redis and KeyDB, versions 2 and 3: it appends commands, measures replies in a
// buffer that grows, and walks their elements. It knows neither sockets nor commands beyond the few that it appends
// quickly, and allocates nothing but the texts of protocol errors. Slices that it returns point into the input.
//
// An element is a byte that tells the type, a line, and for some types what the line announces:
//
//	a line              simple +   error -   integer :   double ,   bool #   big number (   null _
//	a length and bytes  bulk $   blob error !   verbatim =
//	a count and more    array *   set ~   push >   map %   attribute |          (maps and attributes count pairs)
//
// $-1 and *-1 are the nulls of version 2. Streamed forms ($?, *?, ;, .), which no server sends, are refused.
package resp
