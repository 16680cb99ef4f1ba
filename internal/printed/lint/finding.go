package lint

import (
	"fmt"
	"io"
	"strings"

	"privrec/internal/printed"
)

// Severities of findings, the worst first.
const (
	Error   = "error"   // cannot be, under the definition that the rule states
	Warning = "warning" // unlikely, or rests on an assumption that the message names
	Note    = "note"    // worth a look
)

// Finding is one thing that a rule found.
type Finding struct {
	Rule     string     `json:"rule"`
	Severity string     `json:"severity"`
	Paper    string     `json:"paper"`
	Place    string     `json:"place"` // as "Table 2, Gowalla, RDP-GCF"
	Text     string     `json:"text"`  // a sentence
	File     string     `json:"file"`
	Line     int        `json:"line"`
	Evidence []Evidence `json:"evidence"`
}

// Evidence is a printed number, or one computed from printed numbers.
type Evidence struct {
	Paper string `json:"paper"`
	Place string `json:"place"`
	Value string `json:"value"`
	Line  int    `json:"line,omitempty"` // in the paper's file; 0: computed
}

// Checked is a file that was looked at.
type Checked struct {
	Paper    string `json:"paper"`
	File     string `json:"file"`
	Numbers  int    `json:"numbers"`
	Findings int    `json:"findings"`
	// what rules can decide that need more than a number
	Decided []Decided `json:"decided,omitempty"`
}

// Report lists the findings of all rules.
type Report struct {
	Checked  []Checked `json:"checked"`
	Rules    []Rule    `json:"rules"`
	Findings []Finding `json:"findings"`
}

// Text writes a line for every finding, then how many there are in each file, and what rules can decide there.
func (r Report) Text(w io.Writer) error {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%-8s%s, %s: %s [%s]\n", f.Severity, f.Paper, f.Place, f.Text, f.Rule)
	}
	for _, c := range r.Checked {
		fmt.Fprintf(&b, "%s: %d numbers, %s\n", c.Paper, c.Numbers, plural(c.Findings, "finding"))
	}
	for _, c := range r.Checked {
		for _, d := range c.Decided {
			if !d.silent {
				fmt.Fprintf(&b, "%s: %s\n", c.Paper, d)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plural returns "no findings", "1 finding", "2 findings".
func plural(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// show is a printed number as evidence.
func show(v printed.Value) Evidence {
	return Evidence{Paper: v.Paper, Place: v.Place(), Value: v.Number.String(), Line: v.Line}
}

// join lists words as "a, b and c".
func join(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
