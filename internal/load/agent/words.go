package agent

import (
	"encoding/json"
	"fmt"
	"time"
)

// version of the protocol. It is the first byte of a hello for ever, so that unlike peers can say what is wrong.
const version = 1

// kind of a frame.
type kind byte

const (
	kHello    kind = 'h' // version, challenge
	kProof    kind = 'p' // HMAC
	kJob      kind = 'j' // job
	kReady    kind = 'r' // ready
	kStart    kind = 's' // nothing
	kStarted  kind = 't' // started
	kSnapshot kind = 'n' // result.Snapshot
	kStop     kind = 'x' // nothing
	kChunk    kind = 'c' // a piece of a result.Run
	kEnd      kind = 'e' // nothing: the result is complete
	kFailure  kind = 'f' // failure
	kBeat     kind = 'b' // nothing
)

// Limits of what is read of a frame, and of a result.
const (
	mostUnknown  = 64      // bytes, before the peer has proved itself
	mostFrame    = 8 << 20 // bytes
	mostResult   = 1 << 30 // bytes
	chunk        = 1 << 20 // bytes of a result in one frame
	resultMemory = 4 << 30 // bytes that a result may take when decoded
	snapMemory   = 256 << 20
	mostText     = 4096 // bytes of a failure's text
	mostRows     = 255  // as drive has it
)

// job for an agent.
type job struct {
	Release     string // of godwit; it must be the agent's: parts planned by different programs may not fit together
	Face        string
	Args        []string
	Run         int
	Part, Parts int
}

// ready says that an agent waits for the start.
type ready struct {
	Rows    []string
	Clients int
	Grace   time.Duration // that the load may take to end when it is stopped
}

// started says when an agent got the word.
type started struct {
	At int64 // ns since 1970 on the agent's clock
}

// failure says why an agent does not do its part.
type failure struct {
	Text string
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own structs
	}
	return b
}

func unmarshal[T any](k kind, b []byte) (v T, err error) {
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("frame %q: %w", k, err)
	}
	return v, nil
}
