package mcbin

// Status of a response.
type Status uint16

const (
	OK             Status = 0x00
	NotFound       Status = 0x01
	Exists         Status = 0x02
	TooLarge       Status = 0x03
	Invalid        Status = 0x04
	NotStored      Status = 0x05
	NonNumeric     Status = 0x06
	AuthError      Status = 0x20
	AuthContinue   Status = 0x21
	UnknownCommand Status = 0x81
	NoMemory       Status = 0x82
)

// Texts that memcached puts into a response with the status NoMemory, by what failed.
const (
	TextNoMemoryItem  = "Out of memory allocating item"
	TextNoMemoryDelta = "Out of memory incrementing value"
	TextNoMemoryNew   = "Out of memory allocating new item"
	TextNoMemoryStats = "Out of memory generating stats"
	TextNoMemoryRead  = "Out of memory during read"
)

// TextAuthenticated is the body that answers a successful SASL exchange.
const TextAuthenticated = "Authenticated"

// Text is the body of an error response; empty for states that are none.
func (s Status) Text() string {
	switch s {
	case NotFound:
		return "Not found"
	case Exists:
		return "Data exists for key."
	case TooLarge:
		return "Too large."
	case Invalid:
		return "Invalid arguments"
	case NotStored:
		return "Not stored."
	case NonNumeric:
		return "Non-numeric server-side value for incr or decr"
	case AuthError:
		return "Auth failure."
	case UnknownCommand:
		return "Unknown command"
	case NoMemory:
		return "Out of memory"
	}
	return ""
}
