package pages

import (
	"privrec/internal/report"
)

// Names of the pages, in the folder of tables.
const (
	Overview = "index.html"
	Document = "index.json"
	Costs    = "costs.html"
	runs     = "runs"
)

// above are the pages above a page in the folder of tables, and in the one below it.
func above(up string) []report.Link { return []report.Link{{Text: "overview", To: up + Overview}} }

// pageOfRun returns the address of the page of a run from the folder of tables.
func pageOfRun(name string) string { return runs + "/" + name + ".html" }

// links makes links to files from names and endings.
func links(base string, pairs ...string) (out []report.Link) {
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, report.Link{Text: pairs[i], To: base + pairs[i+1]})
	}
	return out
}
