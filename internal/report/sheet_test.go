package report

import (
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain, déjà vu ε": "plain, déjà vu ε",
		"a\nb\tc":          `a\nb\tc`,
		"a\u202eb":         `a\u202eb`,
		"\u2066x\u2069":    `\u2066x\u2069`,
		"zero\u200bwidth":  `zero\u200bwidth`,
		"\u2028":           `\u2028`,
		"\x00\x7f":         `\x00\x7f`,
		"\xff\xc3":         `\xff\xc3`,
		"\ufffd":           "\ufffd",
		"nbsp\u00a0":       `nbsp\u00a0`,
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// What a sheet is given appears escaped and visible, except its own markup.
func TestSheet(t *testing.T) {
	p := NewSheet("<t\u202e>", "b{}")
	p.Put("<p title=\"%s\">%s</p>%s", `"><script>`, "a\nb", Markup("<hr>"))
	var b strings.Builder
	if _, err := p.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>&lt;t\\u202e&gt;</title>", "b{}</style>", "<p title=\"&#34;&gt;&lt;script&gt;\">a\\nb</p><hr></body>\n</html>\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}
