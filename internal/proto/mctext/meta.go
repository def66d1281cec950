package mctext

// maxMetaTokens is memcached's limit for a meta command, verb and key included.
const maxMetaTokens = 20

// MaxOpaque is the longest O flag with its letter.
const MaxOpaque = 32

// Meta is what the flags of a meta command say. Return flags are answered in their order, so handlers walk them with
// Flag again.
type Meta struct {
	has    uint64 // bit: letter - 'A'
	First  int    // token of the first flag
	CAS    uint64 // C
	NewCAS uint64 // E
	Delta  uint64 // D
	Init   uint64 // J
	Flags  uint32 // F
	TTL    int32  // T
	Auto   int32  // N
	Rare   int32  // R
	Mode   byte   // M: the letter behind it, 0 if none
}

// Has says whether flag c was given.
func (m *Meta) Has(c byte) bool { return m.has&(1<<(c-'A')) != 0 }

// FlagShaped says whether all tokens from first on could be flags: digits and what lies between A and z. memcached gives
// up on a meta command with anything else, before it looks at the rest of the line.
func (r *Request) FlagShaped(first int) bool {
	for i := first; i < r.n; i++ {
		if c := r.Line[r.tok[i].from]; c-'0' > 9 && c-'A' > 'z'-'A' {
			return false
		}
	}
	return true
}

// flag letters that memcached knows, whatever the verb.
var knownFlags = func() (set [256]bool) {
	for _, c := range []byte("bcfhklqstuvxCDEFIJLMNOPRT") {
		set[c] = true
	}
	return set
}()

// Parse looks which flags r has from token first on. It returns the text of the error, "" if there is none. Tokens reads
// their arguments: in between memcached decodes the key.
func (m *Meta) Parse(r *Request, first int) string {
	*m = Meta{First: first, Delta: 1}
	if r.Len() > maxMetaTokens {
		return ManyFlags
	}
	for i := first; i < r.Len(); i++ {
		c := r.Tok(i)[0]
		if !knownFlags[c] {
			return BadFlag
		}
		bit := uint64(1) << (c - 'A')
		if m.has&bit != 0 {
			return DuplicateFlag
		}
		m.has |= bit
	}
	return ""
}

// Tokens reads the arguments of the flags. It returns the text of the error, "" if there is none. Of several the last one
// counts, as in memcached, where F has none of its own.
func (m *Meta) Tokens(r *Request) (problem string) {
	for i := m.First; i < r.Len(); i++ {
		tok := r.Tok(i)
		if e := m.token(tok[0], tok[1:]); e != "" && (problem == "" || tok[0] != 'F') {
			problem = e
		}
	}
	return problem
}

// token reads the argument of the flags that have one.
func (m *Meta) token(c byte, arg []byte) string {
	var ok bool
	switch c {
	case 'C':
		m.CAS, ok = U64(arg)
	case 'E':
		m.NewCAS, ok = U64(arg)
	case 'T':
		m.TTL, ok = I32(arg)
	case 'N':
		m.Auto, ok = I32(arg)
	case 'R':
		m.Rare, ok = I32(arg)
	case 'F':
		if m.Flags, ok = U32(arg); !ok {
			return BadFormat
		}
	case 'D':
		if m.Delta, ok = U64(arg); !ok {
			return BadDeltaToken
		}
	case 'J':
		if m.Init, ok = U64(arg); !ok {
			return BadInitial
		}
	case 'M':
		if len(arg) > 0 {
			m.Mode = arg[0]
		}
		return ""
	default:
		return ""
	}
	if !ok {
		return BadToken
	}
	return ""
}
