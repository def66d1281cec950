package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"godwit/test/bench/harness"
)

// conf is study S0's GET load.
const conf = "send=ascii_get,recv=blind_read,conns=50,key_prefix=foobar,pipelines=10\n"

// blind pressure beside mc-crusher: requests per second of client CPU, by the server's count.
func blind(b *bench) error {
	if b.crusher == "" {
		fmt.Println("blind: left out, there is no mc-crusher (-crusher PATH)")
		return nil
	}
	file := b.dir + "/get.conf"
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		return err
	}
	us := map[string][]float64{}
	for range b.rounds {
		for name, tool := range map[string][]string{"godwit": {b.godwit, "crusher", "--quiet"}, "mc-crusher": {b.crusher}} {
			cost, err := b.crush(tool, file)
			if err != nil {
				return err
			}
			us[name] = append(us[name], cost)
		}
	}
	ours, theirs := harness.Median(us["godwit"]), harness.Median(us["mc-crusher"])
	fmt.Printf("blind: %.3f us of client CPU a request, mc-crusher %.3f: x%.2f requests per CPU second\n", ours, theirs, theirs/ours)
	return nil
}

// crush gives the client's CPU time per request that the server counted, us.
func (b *bench) crush(tool []string, file string) (float64, error) {
	srv, err := b.server()
	if err != nil {
		return 0, err
	}
	defer srv.Stop()
	_, port, _ := net.SplitHostPort(srv.Addr)
	argv := append([]string{"-c", "1"}, tool...)
	argv = append(argv, "--conf", file, "--ip", "127.0.0.1", "--port", port, "--timeout", strconv.Itoa(int(b.length.Seconds())))
	cmd := exec.Command("taskset", argv...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%v: %w: %.300s", argv, err, out)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	n, err := commandsServed(srv.Addr)
	if err != nil {
		return 0, err
	}
	return float64(cpu.Microseconds()) / n, nil
}

// commandsServed is cmd_get of a memcached's stats.
func commandsServed(addr string) (float64, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprint(c, "stats\r\n")
	var all strings.Builder
	for buf := make([]byte, 1<<16); !strings.HasSuffix(all.String(), "END\r\n"); {
		n, err := c.Read(buf)
		if err != nil {
			return 0, err
		}
		all.Write(buf[:n])
	}
	for line := range strings.Lines(all.String()) {
		if v, ok := strings.CutPrefix(line, "STAT cmd_get "); ok {
			return strconv.ParseFloat(strings.TrimSpace(v), 64)
		}
	}
	return 0, fmt.Errorf("no cmd_get in the stats of %s", addr)
}
