package server

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"godwit/internal/config"
)

// spareFiles are descriptors beside those of the connections: listeners, loops, logs.
const spareFiles = 64

// owner is the user that the process becomes once its addresses are bound.
type owner struct{ uid, gid int }

// findOwner looks the user up. It is nil when there is nothing to change.
func findOwner(name string, required bool) (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil // as with memcached, -u means something to root only
	}
	if name == "" {
		if required {
			return nil, failf(config.ExitUsage, "must add '-u root' to start as root")
		}
		return nil, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, failf(config.ExitNoUser, "can't find the user %s to switch to", name)
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err1 != nil || err2 != nil {
		return nil, failf(config.ExitNoUser, "can't find the user %s to switch to", name)
	}
	return &owner{uid, gid}, nil
}

// become changes to the user, for good. The unix socket that was made before goes along.
func (o *owner) become(socket string) error {
	if o == nil || o.uid == 0 && o.gid == 0 {
		return nil
	}
	if socket != "" {
		if err := os.Lchown(socket, o.uid, o.gid); err != nil {
			return failf(config.ExitOS, "failed to give the UNIX socket %s away: %s", socket, errText(err))
		}
	}
	if err := syscall.Setgroups(nil); err != nil && !errors.Is(err, syscall.EPERM) {
		return failf(config.ExitOS, "failed to drop supplementary groups: %s", errText(err))
	}
	if syscall.Setgid(o.gid) != nil || syscall.Setuid(o.uid) != nil {
		return failf(config.ExitOS, "failed to assume identity of user %d", o.uid)
	}
	return nil
}

// tuneRuntime fits the Go runtime to loops that sit on their threads: the collector and background work find a P beside
// them. The Go heap is a few megabytes, so that a larger target costs little and collects rarely.
func tuneRuntime(loops int) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(loops + 2)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// seed keeps the index's hashing a secret, so that clients cannot choose keys that collide.
func seed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// savePid writes the process id through a temporary file, so that no reader finds the file empty.
func savePid(path string, warn io.Writer) error {
	if old, err := os.ReadFile(path); err == nil {
		pid, err := strconv.Atoi(strings.TrimSpace(string(old)))
		if err == nil && pid > 0 && syscall.Kill(pid, 0) == nil {
			fmt.Fprintf(warn, "WARNING: The pid file contained the following (running) pid: %d\n", pid)
		}
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644); err != nil {
		return fmt.Errorf("Could not open the pid file %s for writing: %s", tmp, errText(err))
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("Could not rename the pid file from %s to %s: %s", tmp, path, errText(err))
	}
	return nil
}

// errText is the system's text for the cause of err, spelt as the C library does, because scripts match on it.
func errText(err error) string {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return err.Error()
	}
	t := no.Error()
	return strings.ToUpper(t[:1]) + t[1:]
}
