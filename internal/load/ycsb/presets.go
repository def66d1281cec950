package ycsb

import (
	"fmt"
	"path"
	"strings"
)

// presets are YCSB's workload files.
var presets = map[byte]string{
	'a': "readproportion=0.5\nupdateproportion=0.5\nscanproportion=0\ninsertproportion=0\nrequestdistribution=zipfian",
	'b': "readproportion=0.95\nupdateproportion=0.05\nscanproportion=0\ninsertproportion=0\nrequestdistribution=zipfian",
	'c': "readproportion=1\nupdateproportion=0\nscanproportion=0\ninsertproportion=0\nrequestdistribution=zipfian",
	'd': "readproportion=0.95\nupdateproportion=0\nscanproportion=0\ninsertproportion=0.05\nrequestdistribution=latest",
	'e': "readproportion=0\nupdateproportion=0\nscanproportion=0.95\ninsertproportion=0.05\nrequestdistribution=zipfian\n" +
		"maxscanlength=100\nscanlengthdistribution=uniform",
	'f': "readproportion=0.5\nupdateproportion=0\nscanproportion=0\ninsertproportion=0\nreadmodifywriteproportion=0.5\n" +
		"requestdistribution=zipfian",
}

const presetCommon = "recordcount=1000\noperationcount=1000\nworkload=site.ycsb.workloads.CoreWorkload\nreadallfields=true\n"

// presetOf finds the properties of a core workload: a, workloada, or a path that ends so.
func presetOf(name string) []property {
	name = strings.TrimPrefix(strings.ToLower(path.Base(name)), "workload")
	if len(name) != 1 || presets[name[0]] == "" {
		return nil
	}
	props, _ := parseProperties("workload"+name, presetCommon+presets[name[0]])
	return props
}

func (w *words) preset(name string) error {
	p := presetOf(name)
	if p == nil {
		return fmt.Errorf("workload %q: unknown (use a, b, c, d, e or f, or -P for a file)", name)
	}
	w.props = append(w.props, p...)
	return nil
}
