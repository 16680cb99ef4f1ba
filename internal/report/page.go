package report

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"

	"privrec/internal/dataset"
)

// Page is a web page of several parts that begins with its conclusion. It loads nothing from elsewhere and is readable
// without its script, which only sorts tables.
type Page struct {
	Title      string
	Subtitle   string
	Conclusion string // one sentence
	Level      dataset.Level
	Trail      []Link // pages above it, the uppermost first
	Facts      []Fact
	Parts      []Part
	Style      Markup // of this page, beside that of all pages

	lead string // see Document.Lead
}

// Part is a part of a page: a *Table, Chart, Figure, Section, Prose, Notes, Steps, Cards, Fold or Code.
type Part interface{ put(p *page) error }

// Link is a text that leads to another page, with an address relative to the page. In a table cell it shows as its text
// everywhere except on a page.
type Link struct{ Text, To string }

// String returns the text.
func (l Link) String() string { return l.Text }

// Tag is a word with a meaning that a page shows by a colour beside the word.
type Tag struct {
	Text string
	Kind Kind
}

// String returns the word.
func (t Tag) String() string { return t.Text }

// Kind is the meaning of a tag.
type Kind string

// The kinds of tags.
const (
	Good    Kind = "good"
	Near    Kind = "near"
	Bad     Kind = "bad"
	Neutral Kind = "none"
)

// Section is a part of a page with a heading. ID is its address on the page.
type Section struct {
	ID, Title string
	Parts     []Part
}

// Prose is a paragraph of texts and Links.
type Prose []any

// Notes is a list of sentences.
type Notes []string

// Steps is a list of sentences with numbers, from 1.
type Steps []string

// Code is a text that is shown as it is, such as a configuration.
type Code string

// Fold hides parts below a line that opens them, also without a script. Print shows them.
type Fold struct {
	Summary string
	Parts   []Part
}

// Cards holds short texts side by side, each about a page of its own.
type Cards []Card

// Card is one such text.
type Card struct {
	Title Link
	Small string // below the title
	Text  string
	Bar   Bar
}

// Bar shows the counts that make up a whole.
type Bar []Count

// Count is one part of a bar.
type Count struct {
	Tag
	N int
}

//go:embed page.js
var pageScript string

// HTML writes the page.
func (d *Page) HTML(w io.Writer) error {
	p := new(page)
	p.scripted = true
	p.head(d)
	for _, part := range d.Parts {
		if err := part.put(p); err != nil {
			return err
		}
	}
	p.foot()
	_, err := w.Write(p.Bytes())
	return err
}

func (s Section) put(p *page) error {
	p.put("<section id=\"%s\" aria-label=\"%s\">\n<h2>%s</h2>\n", s.ID, s.Title, s.Title)
	p.deeper++
	defer func() { p.deeper-- }()
	for _, part := range s.Parts {
		if err := part.put(p); err != nil {
			return err
		}
	}
	p.put("</section>\n")
	return nil
}

func (s Prose) put(p *page) error {
	p.put("<p>")
	for _, v := range s {
		p.inline(v)
	}
	p.put("</p>\n")
	return nil
}

// inline writes a text, a link or a tag.
func (p *page) inline(v any) {
	switch x := v.(type) {
	case Link:
		if x.To == "" {
			p.put("%s", x.Text)
			return
		}
		p.put("<a href=\"%s\">%s</a>", address(x.To), x.Text)
	case Tag:
		p.put("<span class=\"tag %s\">%s</span>", x.Kind, x.Text)
	default:
		p.put("%v", x)
	}
}

// address writes a relative address in a form in which no file name can be read as another scheme, another host or a
// query.
func address(to string) string {
	file, at, found := strings.Cut(to, "#")
	var b strings.Builder
	for i := range len(file) {
		switch c := file[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	out := b.String()
	if strings.HasPrefix(out, "/") {
		out = "." + out
	}
	if found {
		out += "#" + at
	}
	return out
}

func (n Notes) put(p *page) error { return p.list("ul", n) }

func (n Steps) put(p *page) error { return p.list("ol", n) }

// list writes a list of sentences, or nothing if there are none.
func (p *page) list(tag markup, sentences []string) error {
	if len(sentences) == 0 {
		return nil
	}
	p.put("<%s>\n", tag)
	for _, s := range sentences {
		p.put("<li>%s</li>\n", s)
	}
	p.put("</%s>\n", tag)
	return nil
}

func (c Code) put(p *page) error {
	p.put("<pre tabindex=\"0\">%s</pre>\n", string(c))
	return nil
}

func (f Fold) put(p *page) error {
	p.put("<details><summary>%s</summary>\n", f.Summary)
	for _, part := range f.Parts {
		if err := part.put(p); err != nil {
			return err
		}
	}
	p.put("</details>\n")
	return nil
}

func (c Cards) put(p *page) error {
	p.put("<div class=\"cards\">\n")
	for _, card := range c {
		p.put("<article>\n<h3>")
		p.inline(card.Title)
		p.put("</h3>\n")
		p.putSome("<p class=\"small\">%s</p>\n", card.Small)
		p.put("<p>%s</p>\n", card.Text)
		if err := card.Bar.put(p); err != nil {
			return err
		}
		p.put("</article>\n")
	}
	p.put("</div>\n")
	return nil
}

func (b Bar) put(p *page) error {
	total, words := 0, []string{}
	for _, c := range b {
		total += c.N
		words = append(words, fmt.Sprintf("%s %s", Group(int64(c.N)), c.Text))
	}
	if total == 0 {
		return nil
	}
	p.put("<div class=\"bar\" role=\"img\" aria-label=\"%s\">", strings.Join(words, ", "))
	for _, c := range b {
		if c.N > 0 {
			p.put("<i class=\"%s\" style=\"flex:%s\"></i>", c.Kind, strconv.Itoa(c.N))
		}
	}
	p.put("</div>\n<p class=\"key\" aria-hidden=\"true\">")
	for _, c := range b {
		p.put("<span class=\"%s\">%s %s</span> ", c.Kind, Group(int64(c.N)), c.Text)
	}
	p.put("</p>\n")
	return nil
}
