package report

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A table for a paper has the rules of booktabs, numbers to the right, and no sign that LaTeX
// reads as a command.
func TestLaTeX(t *testing.T) {
	table := &Table{Name: "t", Title: "50 % of R&D", Columns: Columns("%.2f", "data_set", "x"), Notes: []string{"a_b"}}
	table.Add("ML-1M {x} ~ \\", 1.5)
	table.Add("α ± β #1 $", 2.25)
	var b bytes.Buffer
	if err := table.LaTeX(&b); err != nil {
		t.Fatal(err)
	}
	const want = `\begin{table}
\centering
\caption{50 \% of R\&D}
\begin{tabular}{lr}
\toprule
data\_set & x \\
\midrule
ML-1M \{x\} \textasciitilde{} \textbackslash{} & 1.50 \\
α $\pm$ β \#1 \$ & 2.25 \\
\bottomrule
\end{tabular}
\par\smallskip{\footnotesize a\_b}
\end{table}
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// No text of a cell leaves a bare special sign: what is left after removing our own commands has
// none.
func TestLaTeXEscapesEverything(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune(`ab\{}$&#%_~^<>|"±∞`+"\n"))).Draw(r, "text")
		out := escapeLaTeX(s)
		for _, ours := range []string{`\textbackslash{}`, `\textasciitilde{}`, `\textasciicircum{}`, `\textless{}`, `\textgreater{}`, `\textbar{}`, `\textquotedbl{}`, `$\pm$`, `$\infty$`, `\{`, `\}`, `\$`, `\&`, `\#`, `\%`, `\_`} {
			out = strings.ReplaceAll(out, ours, "")
		}
		if i := strings.IndexAny(out, "\\{}$&#%_~^<>|\"\n"); i >= 0 {
			r.Fatalf("%q leaves %q", s, out[i:])
		}
	})
}
