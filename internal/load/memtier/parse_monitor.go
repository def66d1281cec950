package memtier

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Monitor has the commands of a file that redis-cli monitor wrote.
type Monitor struct {
	Commands []MonitorCommand // by number less 1
	Whole    int              // how many of them have words
}

// MonitorCommand is a line of the file with a command.
type MonitorCommand struct {
	Line int    // in the file, from 1
	Verb string // first word in capitals; "" if the line is broken
	Args [][]byte
	Bad  error // why the line is broken
}

// ReadMonitor reads lines such as
//
//	1700000000.123456 [0 127.0.0.1:50000] "SET" "key" "value\x00"
//
// Lines without a quote are no commands and are skipped. Broken ones have their number, but no words.
func ReadMonitor(r io.Reader) (*Monitor, error) {
	m := &Monitor{}
	b := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := b.ReadBytes('\n')
		if i := bytes.IndexByte(line, '"'); i >= 0 {
			c := MonitorCommand{Line: n}
			c.Args, c.Bad = split(nil, line[i:])
			if c.Bad == nil && len(c.Args[0]) == 0 {
				c.Args, c.Bad = nil, errors.New("has an empty word for a command; mend or delete the line")
			}
			if c.Bad == nil {
				c.Verb = strings.ToUpper(string(c.Args[0]))
				m.Whole++
			}
			m.Commands = append(m.Commands, c)
		}
		if err == io.EOF {
			return m, nil
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
}
