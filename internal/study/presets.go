package study

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed presets/*.toml
var presetFiles embed.FS

// Presets are the names of the studies that are built in.
func Presets() (list []string) {
	all, _ := fs.Glob(presetFiles, "presets/*.toml")
	for _, name := range all {
		list = append(list, strings.TrimSuffix(path.Base(name), ".toml"))
	}
	return list
}

// preset is the text of one.
func preset(name string) (text string, ok bool) {
	b, err := presetFiles.ReadFile("presets/" + strings.ToLower(name) + ".toml")
	return string(b), err == nil
}
