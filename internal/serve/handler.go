package serve

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/report"
)

//go:embed serve.css
var style string

//go:embed list.js
var script string

// handler answers the requests that passed the guard.
type handler struct {
	index
	mux http.ServeMux
}

func newHandler(root *os.Root, path string) *handler {
	h := &handler{index: index{root: root, path: path}}
	h.mux.HandleFunc("/{$}", h.page(h.list))
	h.mux.HandleFunc("/run", h.page(h.run))
	h.mux.HandleFunc("/compare", h.page(h.compare))
	h.mux.HandleFunc("/fronts", h.page(h.fronts))
	h.mux.HandleFunc("/api/runs.json", h.runsJSON)
	h.mux.HandleFunc("/files/{path...}", h.file)
	return h
}

// ServeHTTP answers a request. It compares the path as it was sent: a path that is not clean names nothing here, and no
// redirect cleans it.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !clean(r.URL) {
		refuse(w, http.StatusNotFound, "there is no such page")
		return
	}
	h.mux.ServeHTTP(w, r)
}

// problem is an error that the requester can fix, with its status.
type problem struct {
	code int
	text string
}

// Error returns the sentence to show.
func (p *problem) Error() string { return p.text }

func asked(format string, args ...any) error {
	return &problem{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func absent(format string, args ...any) error {
	return &problem{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// page returns a handler for a function that returns a page from the parameters of a request.
func (h *handler) page(write func(v url.Values) (*report.Sheet, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		code := http.StatusOK
		v, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			err = asked("the parameters cannot be read: %v", err)
		}
		var p *report.Sheet
		if err == nil {
			p, err = write(v)
		}
		if err != nil {
			code = status(err)
			p = h.begin("Not shown", "")
			p.Put("<h1>Not shown</h1>\n<p class=\"conclusion\">%s</p>\n<p><a href=\"/\">All runs</a></p>\n",
				sentence(err.Error()))
			end(p)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(code)
		if r.Method != http.MethodHead {
			p.WriteTo(w) // a browser that went away is no error of ours
		}
	}
}

func status(err error) int {
	if p, ok := err.(*problem); ok {
		return p.code
	}
	return http.StatusInternalServerError
}

// sentence returns an error as a sentence.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// begin returns a page with links to the others; at is the address of the page itself.
func (h *handler) begin(title, at string) *report.Sheet {
	p := report.NewSheet(title+" – privrec", report.Markup(style))
	p.Put("<a class=\"skip\" href=\"#main\">skip to the content</a>\n<nav aria-label=\"pages\"><b>privrec</b>")
	for _, l := range [][2]string{{"/", "Runs"}, {"/fronts", "Fronts"}} {
		here := report.Markup("")
		if l[0] == at {
			here = ` aria-current="page"`
		}
		p.Put("<a href=\"%s\"%s>%s</a>", report.Markup(l[0]), here, l[1])
	}
	p.Put("<span class=\"folder\"><bdi>%s</bdi></span></nav>\n<main id=\"main\">\n", filepath.Base(h.path))
	return p
}

func end(p *report.Sheet) { p.Put("</main>\n") }

// ref returns the name of a run as a parameter. A name may have bytes that a form of a page cannot send; plain names
// stay as they are.
func ref(name string) string { return (&url.URL{Path: "/" + name}).EscapedPath()[1:] }

// named returns the run that a parameter refers to.
func (f *found) named(ref string) (*Run, error) {
	name, err := url.PathUnescape(ref)
	if err == nil {
		for _, r := range f.Runs {
			if r.Name == name {
				return r, nil
			}
		}
	}
	return nil, absent("there is no run %q below this folder", ref)
}

// runLink returns the address of a run's page.
func runLink(name string) string { return "/run?name=" + url.QueryEscape(ref(name)) }

// fileLink returns the address of a file of the folder.
func fileLink(name string) string { return "/files/" + ref(name) }

// runsJSON answers with the runs selected by a query, in its order.
func (h *handler) runsJSON(w http.ResponseWriter, r *http.Request) {
	v, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		refuse(w, http.StatusBadRequest, "the parameters cannot be read")
		return
	}
	q, err := parseQuery(v)
	if err != nil {
		refuse(w, http.StatusBadRequest, report.Visible(err.Error()))
		return
	}
	all, err := h.scan()
	if err != nil {
		refuse(w, http.StatusInternalServerError, report.Visible(err.Error()))
		return
	}
	b, err := json.MarshalIndent(listing(q, all), "", "  ")
	if err != nil {
		refuse(w, http.StatusInternalServerError, report.Visible(err.Error()))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(b, '\n'))
}
