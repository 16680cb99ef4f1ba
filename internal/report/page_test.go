package report

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sampleWith is a page of all parts, with one text in every place.
func sampleWith(s string) *Page {
	t := &Table{Name: "t", Title: s, Columns: Columns("%.2f", s, "n", "tag", "link"), Notes: []string{s}, Sorts: true, Files: []Link{{s, s}}}
	t.Add(s, 1.0/3, Tag{s, Bad}, Link{s, s})
	c := Chart{Title: s, Caption: s, Files: []Link{{s, s}}, Strips: []Strip{{Title: s, Panels: []Panel{{Title: s, X: s, Y: s,
		Levels: []Level{{s, 1}}, Curves: []Curve{{Name: s, X: []float64{1, 2}, Y: []float64{1, 2}}}}}}}}
	return &Page{
		Title: s, Subtitle: s, Conclusion: s, Trail: []Link{{s, s}}, Facts: []Fact{{s, s, s}},
		Parts: []Part{
			Section{ID: "a", Title: s, Parts: []Part{t, Prose{s, Link{s, s}, Tag{s, Good}}, Notes{s}, Code(s)}},
			Cards{{Title: Link{s, s}, Small: s, Text: s, Bar: Bar{{Tag{s, Good}, 3}}}}, Fold{Summary: s, Parts: []Part{c}},
		},
	}
}

// Every text of every part is escaped, and every part is closed.
func TestPartsEscape(t *testing.T) {
	const hostile = `"><i onload='x'>&`
	var b bytes.Buffer
	if err := sampleWith(hostile).HTML(&b); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	if strings.Contains(s, "<i onload") || strings.Contains(s, `=""`) || strings.Contains(s, "onload='x'") {
		t.Error("text of the page became markup")
	}
	for _, tag := range []string{"main", "nav", "section", "article", "details", "summary", "table", "caption", "tr", "pre", "figure", "div", "p", "a", "h1", "h2", "h3"} {
		if open, closed := strings.Count(s, "<"+tag+">")+strings.Count(s, "<"+tag+" "), strings.Count(s, "</"+tag+">"); open != closed || open == 0 {
			t.Errorf("%s opens %d times and closes %d times", tag, open, closed)
		}
	}
}

// No text becomes an address that leads away: an address is relative, and reads back to the name
// of the file.
func TestAddress(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		name := strings.TrimLeft(rapid.StringOf(rapid.RuneFrom([]rune(`ab:/?%&"<>.\ é`+"\n"))).Draw(r, "name"), "/")
		u, err := url.Parse(address(name))
		if err != nil || u.Scheme != "" || u.Host != "" || u.RawQuery != "" || u.Path != name {
			r.Fatalf("%q became %q: %+v, error %v", name, address(name), u, err)
		}
	})
	for _, s := range []string{"//example.org/x", "javascript:alert(1)", "/etc/passwd"} {
		u, err := url.Parse(address(s))
		if err != nil || u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/") {
			t.Errorf("%q became %q, error %v", s, address(s), err)
		}
	}
}

// A page forbids everything that is not in it, and its colours are those of the screen.
func TestPageIsClosed(t *testing.T) {
	var b bytes.Buffer
	if err := sampleWith("x").HTML(&b); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	for _, want := range []string{`content="default-src 'none';`, "prefers-color-scheme: dark", "@media print", `scope="col"`, `scope="row"`, `<table class="sorts">`, `data-v="0.3333333333333333">0.33<`, "var(--c0)"} {
		if !strings.Contains(s, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, bad := range []string{"src=", "@import", "url(", `href="http`, "fetch(", "#0072B2", "#333B45"} {
		if strings.Contains(s, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}
