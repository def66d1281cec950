package agent

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
)

// timing of connections. Tests shorten it.
type timing struct {
	dial    time.Duration // to connect
	prove   time.Duration // from the connection to the job
	beat    time.Duration // between beats
	silence time.Duration // without a word that a peer is given, and to take a frame
	linger  time.Duration // that an agent waits for the coordinator to hang up
	slack   time.Duration // that stopped agents get beyond their grace
}

var usual = timing{
	dial: 10 * time.Second, prove: 10 * time.Second, beat: time.Second, silence: 15 * time.Second, linger: 5 * time.Second, slack: 10 * time.Second,
}

// peer is the other end of a connection. One goroutine may call recv, any send.
type peer struct {
	nc   net.Conn
	r    *bufio.Reader
	most int // bytes of a frame
	t    timing

	mu  sync.Mutex // one frame is written at a time
	out []byte
}

func newPeer(nc net.Conn, t timing) *peer {
	return &peer{nc: nc, r: bufio.NewReader(nc), most: mostUnknown, t: t}
}

func (p *peer) close() { p.nc.Close() }

// send a frame. It fails if the peer does not take it in time; then the connection is of no use any more.
func (p *peer) send(k kind, content []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out = binary.BigEndian.AppendUint32(p.out[:0], uint32(len(content)+1))
	p.out = append(append(p.out, byte(k)), content...)
	p.nc.SetWriteDeadline(time.Now().Add(p.t.silence))
	_, err := p.nc.Write(p.out)
	if cap(p.out) > 2*chunk {
		p.out = nil
	}
	return err
}

// recv gives the next frame that is not a beat.
func (p *peer) recv() (kind, []byte, error) {
	for {
		p.nc.SetReadDeadline(time.Now().Add(p.t.silence))
		k, content, err := readFrame(p.r, p.most)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return 0, nil, fmt.Errorf("nothing was heard for %v", p.t.silence)
		case err != nil:
			return 0, nil, err
		case k != kBeat:
			return k, content, nil
		}
	}
}

// expect a frame of one kind, or the failure that the peer tells instead.
func (p *peer) expect(want kind) ([]byte, error) {
	k, content, err := p.recv()
	if err == nil && k != want {
		err = unexpected(k, content)
	}
	return content, err
}

// unexpected is the error of a frame that has no place here, or of the failure in it.
func unexpected(k kind, content []byte) error {
	if k != kFailure {
		return fmt.Errorf("frame %q came out of turn", byte(k))
	}
	f, err := unmarshal[failure](k, content)
	if err != nil {
		return err
	}
	return errors.New(trim(f.Text))
}

var errLength = errors.New("a frame that is too long: this is no godwit")

// readFrame reads a frame of at most so many bytes after its length.
func readFrame(r *bufio.Reader, most int) (kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 1 || n > uint32(most) {
		return 0, nil, errLength
	}
	content := make([]byte, n-1)
	if _, err := io.ReadFull(r, content); err != nil {
		return 0, nil, cut(err)
	}
	return kind(head[4]), content, nil
}

// cut is the error of a stream that ended within something.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// beats sends one now and then until ctx is done or the connection is.
func (p *peer) beats(ctx context.Context) {
	t := time.NewTicker(p.t.beat)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if p.send(kBeat, nil) != nil {
				p.close() // so that recv ends, too
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// roles of the ends of a connection, as they are in the proofs.
const (
	roleCoordinator = "coordinator"
	roleAgent       = "agent"
)

const challengeLen = 32

var (
	errToken = errors.New("it does not know the token: both sides must have the same one")
	errPeer  = errors.New("it is no godwit agent or coordinator")
)

// prove makes sure that both ends know the token, which makes them coordinator and agent. binding is a secret of the
// connection beneath. The coordinator speaks first and proves itself first: an agent tells strangers nothing that they could
// try tokens on.
func (p *peer) prove(role string, token, binding []byte) error {
	mine := make([]byte, challengeLen)
	rand.Read(mine)
	hello := append([]byte{version}, mine...)
	var theirs []byte
	var err error
	if role == roleCoordinator {
		if err = p.send(kHello, hello); err == nil {
			theirs, err = p.hello()
		}
		if err != nil {
			return err
		}
		if err := p.send(kProof, proof(token, roleCoordinator, mine, theirs, binding)); err != nil {
			return err
		}
		return p.check(proof(token, roleAgent, mine, theirs, binding))
	}
	if theirs, err = p.hello(); theirs == nil {
		return err
	}
	if e := p.send(kHello, hello); e != nil || err != nil {
		return cmpErr(err, e)
	}
	if err := p.check(proof(token, roleCoordinator, theirs, mine, binding)); err != nil {
		p.send(kFailure, marshal(failure{"the token is another one here"}))
		return err
	}
	return p.send(kProof, proof(token, roleAgent, theirs, mine, binding))
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// hello reads the peer's challenge. It is also given with the error that the peer is of another version.
func (p *peer) hello() ([]byte, error) {
	b, err := p.expect(kHello)
	switch {
	case errors.Is(err, errLength) || err == nil && len(b) < 1:
		return nil, errPeer
	case err != nil:
		return nil, err
	case b[0] != version:
		return b[1:], fmt.Errorf("it speaks version %d of the agents' protocol, this program version %d: use the same release", b[0], version)
	case len(b) != 1+challengeLen:
		return nil, errPeer
	}
	return b[1:], nil
}

// check compares the peer's proof with what it must be.
func (p *peer) check(want []byte) error {
	got, err := p.expect(kProof)
	if err == nil && !hmac.Equal(got, want) {
		err = errToken
	}
	if err == nil {
		p.most = mostFrame
	}
	return err
}

func proof(token []byte, role string, coordinator, agent, binding []byte) []byte {
	h := hmac.New(sha256.New, token)
	fmt.Fprintf(h, "godwit agent protocol %d, proof of the %s\n", version, role)
	h.Write(coordinator)
	h.Write(agent)
	h.Write(binding)
	return h.Sum(nil)
}

// binding is a secret that both ends of the connection have, and nobody else.
func binding(c *tls.Conn) ([]byte, error) {
	state := c.ConnectionState()
	return state.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, 32)
}

// certificate makes one up. TLS wants one; nobody looks at it.
func certificate() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "godwit agent"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<32, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS13,
		SessionTicketsDisabled: true,
	}, nil
}

// anyCertificate is the coordinator's side: the proofs are what it trusts.
var anyCertificate = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}

// secure makes TLS of a connection and proves the token, all by the deadline of ctx.
func secure(ctx context.Context, nc net.Conn, role string, config *tls.Config, token []byte, t timing) (*peer, error) {
	var c *tls.Conn
	if role == roleAgent {
		c = tls.Server(nc, config)
	} else {
		c = tls.Client(nc, config)
	}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	err := c.HandshakeContext(ctx)
	var head tls.RecordHeaderError
	switch {
	case errors.As(err, &head):
		return nil, errPeer
	case err != nil:
		return nil, cmpErr(context.Cause(ctx), err)
	}
	b, err := binding(c)
	if err != nil {
		return nil, err
	}
	p := newPeer(c, t)
	if err := p.prove(role, token, b); err != nil {
		return nil, cmpErr(context.Cause(ctx), err)
	}
	return p, nil
}

// trim a text to what a frame of failure may hold, and to what a terminal may be shown of a stranger.
func trim(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), mostText)], "")
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}
