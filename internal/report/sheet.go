package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sheet collects a web page that another package writes, such as one with forms, which a [Page] cannot have. It has the
// style of all pages and loads nothing from elsewhere.
type Sheet struct{ page page }

// Markup is text of a page that needs no escaping, because the program wrote it.
type Markup = markup

// NewSheet returns a page with a title. style is added to that of all pages.
func NewSheet(title string, style Markup) *Sheet {
	s := new(Sheet)
	s.Put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>%s</title>
<style>
%s%s</style>
</head>
<body>
`, title, markup(pageStyle), style)
	return s
}

// Put writes a format with its arguments escaped, except those of type Markup. It makes invisible characters in
// arguments visible, so that a name can neither hide nor reverse the text beside it.
func (s *Sheet) Put(format string, args ...any) {
	for i, a := range args {
		if _, ours := a.(markup); !ours {
			args[i] = Visible(fmt.Sprint(a))
		}
	}
	s.page.put(format, args...)
}

// Chart writes every panel of a chart as a picture, under the chart's title.
func (s *Sheet) Chart(c Chart) error { return c.put(&s.page) }

// WriteTo ends the page and writes it.
func (s *Sheet) WriteTo(w io.Writer) (int64, error) {
	s.page.put("</body>\n</html>\n")
	return s.page.WriteTo(w)
}

// Visible returns a text with invisible runes written as in a Go string: controls, direction marks, blanks of no width,
// and bytes that are not UTF-8.
func Visible(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r):
			b.WriteString(s[:n])
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}
