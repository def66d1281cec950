package report

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// HTML writes a page that needs nothing else: no script, no font, no request.
func (r *Report) HTML(w io.Writer) error {
	type search struct {
		Label string
		Table any
	}
	type commands struct {
		Label string
		Lines []string
	}
	type view struct {
		Head  []string
		Cells [][]string
	}
	show := func(t *table) *view {
		if t == nil {
			return nil
		}
		return &view{t.head, t.cells}
	}
	data := struct {
		*Report
		Servers, Money, Machine *view
		Pictures                []picture
		Facts                   []string
		Searches                []search
		Command                 []commands
		Colours                 []int
	}{Report: r, Colours: []int{0, 1, 2, 3, 4, 5}, Servers: show(r.servers()), Money: show(r.worth()), Facts: r.facts(), Pictures: r.pictures()}
	if len(r.Hosts) > 0 {
		data.Machine = show(r.hosts())
	}
	for _, row := range r.Rows {
		if len(row.Path) > 0 {
			data.Searches = append(data.Searches, search{row.Label, show(r.path(row))})
		}
		if len(row.Commands) > 0 {
			data.Command = append(data.Command, commands{row.Label, row.Commands})
		}
	}
	return page.Execute(w, data)
}
