package server

import "testing"

func TestSnake(t *testing.T) {
	for in, want := range map[string]string{
		"CmdFlush": "cmd_flush", "ReadBufOOM": "read_buf_oom", "TLSNewSessions": "tls_new_sessions", "Items": "items",
		"ListenDisabledUs": "listen_disabled_us", "ResponseObjOOM": "response_obj_oom",
	} {
		if got := snake(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
