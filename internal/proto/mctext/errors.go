package mctext

// Replies of fixed text, byte for byte those of memcached 1.6.45.
const (
	Stored    = "STORED\r\n"
	NotStored = "NOT_STORED\r\n"
	Exists    = "EXISTS\r\n"
	NotFound  = "NOT_FOUND\r\n"
	Deleted   = "DELETED\r\n"
	Touched   = "TOUCHED\r\n"
	OK        = "OK\r\n"
	End       = "END\r\n"
	Reset     = "RESET\r\n"
	Version   = "VERSION 1.6.45\r\n"

	// Meta
	MetaNop  = "MN\r\n"
	MetaMiss = "EN\r\n"

	// Error says that there is no such command, and is also what admin verbs answer to arguments they do not know.
	Error = "ERROR\r\n"

	BadFormat     = "CLIENT_ERROR bad command line format\r\n"
	BadFormatTwo  = "CLIENT_ERROR bad command line format\r\n\r\n" // get with a key too long: memcached ends it twice
	BadChunk      = "CLIENT_ERROR bad data chunk\r\n"
	BadExptime    = "CLIENT_ERROR invalid exptime argument\r\n"
	BadDelta      = "CLIENT_ERROR invalid numeric delta argument\r\n"
	NonNumeric    = "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n"
	TooLarge      = "SERVER_ERROR object too large for cache\r\n"
	NoMemory      = "SERVER_ERROR out of memory storing object\r\n"
	NoMemoryRead  = "SERVER_ERROR Out of memory during read\r\n"
	NoMemoryGet   = "SERVER_ERROR out of memory writing get response\r\n"
	NoMemoryArith = "SERVER_ERROR out of memory\r\n"

	BadFlag       = "CLIENT_ERROR invalid flag\r\n"
	DuplicateFlag = "CLIENT_ERROR duplicate flag\r\n"
	BadFlagArith  = "CLIENT_ERROR invalid or duplicate flag\r\n"
	ManyFlags     = "CLIENT_ERROR options flags are too long\r\n"
	BadToken      = "CLIENT_ERROR bad token in command line format\r\n"
	BadInitial    = "CLIENT_ERROR invalid numeric initial value\r\n"
	BadDeltaToken = "CLIENT_ERROR invalid numeric delta value\r\n"
	BadKeyCode    = "CLIENT_ERROR error decoding key\r\n"
	LongOpaque    = "CLIENT_ERROR opaque token too long\r\n"
	BadSetMode    = "CLIENT_ERROR invalid mode for ms M token\r\n"
	BadArithMode  = "CLIENT_ERROR invalid mode for ma M token\r\n"

	NoFlush       = "CLIENT_ERROR flush_all not allowed\r\n"
	NoShutdown    = "SERVER_ERROR: shutdown not enabled\r\n"
	BadShutdown   = "CLIENT_ERROR invalid shutdown mode\r\n"
	NoWatch       = "CLIENT_ERROR watch commands not allowed\r\n"
	WatchFailed   = "WATCHER_FAILED failed to add log watcher\r\n"
	WatchPipeline = "ERROR cannot pipeline other commands before watch\r\n"

	MemSmall   = "MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m\r\n"
	MemNotMB   = "MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes\r\n"
	MemRefused = "MEMLIMIT_ADJUST_FAILED out of bounds or unable to adjust\r\n"

	SlabsOff    = "CLIENT_ERROR slab reassignment disabled\r\n"
	SlabsClass  = "BADCLASS invalid src or dst class id\r\n"
	SlabsSame   = "SAME src and dst class are identical\r\n"
	SlabsSpare  = "NOSPARE source class has no spare pages\r\n"
	SlabsWindow = "CLIENT_ERROR automove window too low or too high\r\n"
	LRUPercent  = "ERROR hot and warm pcts must not exceed 80\r\n"
	LRUFactor   = "ERROR hot/warm age factors must be greater than 0\r\n"
	CrawlerOff  = "CLIENT_ERROR lru crawler disabled\r\n"

	// The prologue of -Y
	Unauthenticated = "CLIENT_ERROR unauthenticated\r\n"
	AuthTooLong     = "CLIENT_ERROR auth token too long\r\n"
	AuthEnd         = "CLIENT_ERROR bad command line termination\r\n"
	AuthToken       = "CLIENT_ERROR bad authentication token format\r\n"
	AuthFailed      = "CLIENT_ERROR authentication failure\r\n"
)
