package report

import (
	"fmt"
	"io"
	"strings"
)

// LaTeX writes the table for a paper, with the rules of the package booktabs. Notes follow in small letters.
func (t *Table) LaTeX(w io.Writer) error {
	cells, right := t.grid()
	var b strings.Builder
	align := ""
	for _, r := range right {
		align += map[bool]string{true: "r", false: "l"}[r]
	}
	b.WriteString("\\begin{table}\n\\centering\n")
	if t.Title != "" {
		b.WriteString("\\caption{" + escapeLaTeX(t.Title) + "}\n")
	}
	b.WriteString("\\begin{tabular}{" + align + "}\n\\toprule\n")
	line := func(cell func(c int) string) {
		for c := range t.Columns {
			if c > 0 {
				b.WriteString(" & ")
			}
			b.WriteString(escapeLaTeX(strings.TrimLeft(cell(c), " ")))
		}
		b.WriteString(" \\\\\n")
	}
	line(func(c int) string { return t.Columns[c].Name })
	b.WriteString("\\midrule\n")
	for _, row := range cells {
		line(func(c int) string { return row[c] })
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	for _, n := range t.Notes {
		b.WriteString("\\par\\smallskip{\\footnotesize " + escapeLaTeX(n) + "}\n")
	}
	b.WriteString("\\end{table}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// LaTeX writes the tables of the document, each as a float, after a comment that describes them and the required
// preamble.
func (d *Document) LaTeX(w io.Writer) error {
	var b strings.Builder
	for _, s := range []string{d.lead, d.Title, d.Subtitle, d.stamp(), `needs \usepackage{booktabs}`} {
		if s != "" {
			b.WriteString("% " + strings.Join(strings.Fields(s), " ") + "\n")
		}
	}
	for _, t := range d.Tables {
		b.WriteByte('\n')
		if err := t.LaTeX(&b); err != nil {
			return fmt.Errorf("report: %s: %w", t.Name, err)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// latexEscapes replaces characters that LaTeX reads as commands, and signs that its fonts have only in formulas.
var latexEscapes = strings.NewReplacer(
	`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "#", `\#`, "%", `\%`, "_", `\_`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`,
	`"`, `\textquotedbl{}`,
	"±", `$\pm$`, "∞", `$\infty$`, "≤", `$\leq$`, "≥", `$\geq$`, "×", `$\times$`, "·", `$\cdot$`, "−", "$-$",
	"ε", `$\varepsilon$`, "δ", `$\delta$`, "σ", `$\sigma$`, "λ", `$\lambda$`, "\n", " ", "\r", " ",
)

func escapeLaTeX(s string) string { return latexEscapes.Replace(s) }
