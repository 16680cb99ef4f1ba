package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/report"
	"privrec/internal/run"
)

// curve is a question asked at many values of one of its numbers.
type curve struct {
	q            *question
	over         string
	from, to     string
	points       *number
	accountants  []string
	out          string
	force, quiet bool
	axis         string // the flag that varies
	xs           []float64
	methods      []accountant.Method
	lo, hi       float64
	format       string
}

// accountCurve draws epsilon against delta, noise or steps.
func (a *App) accountCurve() *cobra.Command {
	parent := &cobra.Command{
		Use:   "curve",
		Short: "draw epsilon against delta, noise or steps",
		Long: `Draws epsilon against one number of a calculation, the others fixed, a line for each
accountant, as SVG or PNG, and prints the values. The axis is logarithmic. The
file is written whole or not at all.`,
		Args: cobra.ArbitraryArgs,
		RunE: group("mechanism"),
	}
	for _, m := range calculators() {
		if m.noise == "" {
			continue
		}
		k := &curve{q: &question{of: m}}
		c := leaf(m, "draw epsilon for "+m.summary, func(c *cobra.Command) error { return a.draw(c, k) })
		k.q.flags(c, slices.Concat([]string{m.noise}, m.flags, []string{"steps", "delta"})...)
		c.Use = m.name + " --over delta|noise|steps --from A --to B --out FILE"
		k.points = &number{name: "points", span: spanPoints, v: 25, set: true}
		p := c.Flags()
		p.StringVar(&k.over, "over", "", "the axis: delta, noise, steps; its own flag is left out")
		p.StringVar(&k.from, "from", "", "first value on the axis, in the range of its flag")
		p.StringVar(&k.to, "to", "", "last value on the axis")
		p.Var(k.points, "points", "values on the axis, spaced by equal factors; "+spanPoints.String())
		p.StringSliceVar(&k.accountants, "accountants", nil, fmt.Sprintf("lines to draw: %s (default rdp,exact; rdp for what exact does not take)", list(m.accountants)))
		p.StringVarP(&k.out, "out", "o", "", "file to write, .svg or .png")
		p.BoolVar(&k.force, "force", false, "replace a file of the same name")
		p.BoolVarP(&k.quiet, "quiet", "q", false, "no progress")
		parent.AddCommand(c)
	}
	return parent
}

// draw checks everything first, then computes, then writes.
func (a *App) draw(c *cobra.Command, k *curve) error {
	if err := k.check(c); err != nil {
		return err
	}
	if err := k.checkOut(); err != nil {
		return err
	}
	r := newReporter(a.Stderr, k.quiet)
	table, err := k.compute(c.Context(), r)
	if err != nil {
		return err
	}
	image, err := k.figure(table).Image(k.format)
	if err != nil {
		return err
	}
	if err := k.write(image); err != nil {
		return err
	}
	r.Phase("written to " + k.out)
	return run.Show(a.Stdout, k.q.json, k.answer(table))
}

func (k *curve) check(c *cobra.Command) error {
	q := k.q
	axes := map[string]string{"delta": "delta", "noise": q.of.noise, "steps": "steps"}
	if k.over != "" && axes[k.over] == "" {
		return usagef("", "--over is %q, want delta, noise or steps", clip(k.over))
	}
	k.axis = axes[k.over]
	given := map[string]bool{"over": k.over != "", "from": k.from != "", "to": k.to != "", "out": k.out != ""}
	for name, n := range q.numbers {
		given[name] = n.set
	}
	if k.axis != "" && given[k.axis] {
		return usagef("leave it out", "--%s is the axis of --over %s", k.axis, k.over)
	}
	names := append(slices.Clone(q.order), "over", "from", "to", "out")
	names = slices.DeleteFunc(names, func(n string) bool { return n == k.axis })
	if err := missing(c, names, func(n string) bool { return given[n] }); err != nil {
		return err
	}
	if err := q.checkRelation(); err != nil {
		return err
	}
	if err := k.checkAxis(); err != nil {
		return err
	}
	if len(k.accountants) == 0 {
		k.accountants = []string{string(accountant.RDP), string(accountant.Contour)}
		if q.sampling == privacy.WithoutReplacement {
			k.accountants = k.accountants[:1]
		}
	}
	for _, text := range k.accountants {
		if err := q.setMethod("accountants", text); err != nil {
			return err
		}
		if slices.Contains(k.methods, q.method) {
			return usagef("", "--accountants names %s twice", q.method)
		}
		k.methods = append(k.methods, q.method)
	}
	return nil
}

// checkAxis reads the ends of the axis and spaces the values between them.
func (k *curve) checkAxis() (err error) {
	s := spans()[k.axis].span
	if k.lo, err = s.parse("from", k.from); err != nil {
		return err
	}
	if k.hi, err = s.parse("to", k.to); err != nil {
		return err
	}
	if k.lo >= k.hi {
		return usagef("", "--from is %s and --to is %s, want the smaller first", clip(k.from), clip(k.to))
	}
	n := int(k.points.v)
	for i := range n {
		x := k.lo * math.Pow(k.hi/k.lo, float64(i)/float64(n-1))
		switch {
		case i == 0:
			x = k.lo
		case i == n-1:
			x = k.hi
		case s.whole:
			x = math.Round(x)
		default: // a number that can be read and typed again
			if x, err = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64); err != nil {
				return err
			}
		}
		if len(k.xs) == 0 || x > k.xs[len(k.xs)-1] {
			k.xs = append(k.xs, x)
		}
	}
	return nil
}

// checkOut finds out, before anything is computed, what would keep the file from
// being written.
func (k *curve) checkOut() error {
	k.format = strings.ToLower(strings.TrimPrefix(filepath.Ext(k.out), "."))
	if !slices.Contains(report.ImageFormats(), k.format) {
		return usagef("", "--out is %q, want a name that ends in .svg or .png", clip(k.out))
	}
	if info, err := os.Stat(filepath.Dir(k.out)); err != nil || !info.IsDir() {
		return usagef("make it first", "--out is %s, but there is no folder %s", k.out, filepath.Dir(k.out))
	}
	info, err := os.Lstat(k.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return usagef("choose another --out", "--out is %s, which is there and is no file", k.out)
	case !k.force:
		return run.WithHint(fmt.Errorf("write %s: %w", k.out, fs.ErrExist), "choose another --out, or --force to replace what is there")
	}
	return nil
}

// write makes the file, whole or not at all.
func (k *curve) write(image []byte) error {
	if _, err := os.Lstat(k.out); err == nil && !k.force { // made while we computed
		return fmt.Errorf("write %s: %w", k.out, fs.ErrExist)
	}
	return run.WriteFile(k.out, func(w io.Writer) error {
		_, err := w.Write(image)
		return err
	})
}

// compute asks every accountant at every point; the first that has no answer ends it.
func (k *curve) compute(ctx context.Context, r run.Progress) ([][]accountant.Result, error) {
	table := make([][]accountant.Result, len(k.methods))
	r.Begin("curve", len(k.methods)*len(k.xs))
	defer r.End("")
	for i, m := range k.methods {
		for _, x := range k.xs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			k.q.put(k.axis, x)
			got, err := k.q.spent(m)
			if err != nil {
				return nil, fmt.Errorf("at %s %s: %w", k.axis, short(x), err)
			}
			table[i] = append(table[i], got)
			r.Add(1)
		}
	}
	return table, nil
}

// figure is the drawing of the values.
func (k *curve) figure(table [][]accountant.Result) report.Figure {
	units := map[string]string{
		"delta": "delta (probability)", "steps": "steps (number of releases)",
		"sigma":            "sigma (standard deviation of the noise)",
		"noise-multiplier": "noise multiplier (standard deviation / clipping norm)",
		"scale":            "scale of the noise",
	}
	f := report.Figure{Title: k.title(), X: units[k.axis], Y: "epsilon (nats)", LogX: true}
	least, most := math.Inf(1), 0.0
	for i, m := range k.methods {
		l := report.Line{Name: lineNames[m], X: k.xs, Dashed: m == accountant.PLD} // it may lie on the exact one
		for _, r := range table[i] {
			l.Y = append(l.Y, r.Epsilon)
			least, most = math.Min(least, r.Epsilon), math.Max(most, r.Epsilon)
		}
		f.Lines = append(f.Lines, l)
	}
	// A linear axis shows nothing of the small end once the values span so much.
	f.LogY = least > 0 && most/least > 20
	return f
}

// lineNames are the accountants in a legend.
var lineNames = map[accountant.Method]string{
	accountant.Analytic: "analytic", accountant.Contour: "exact", accountant.RDP: "RDP bound", accountant.PLD: "PLD upper bound",
}

// title says what is held fixed.
func (k *curve) title() string {
	q := k.q
	parts := []string{strings.ReplaceAll(q.of.name, "-", " ")}
	if q.sampling == privacy.WithoutReplacement {
		parts = append(parts, "without replacement")
	}
	for _, name := range q.order {
		if name != k.axis {
			parts = append(parts, strings.ReplaceAll(name, "-", " ")+" "+q.shown(name))
		}
	}
	return upper(strings.Join(append(parts, string(q.relation)), ", "))
}

// answer lists the values that were drawn.
func (k *curve) answer(table [][]accountant.Result) *answer {
	q := k.q
	a := &answer{title: k.title()}
	a.add("out", k.out, "written", k.out)
	a.add("over", k.over, "", "")
	key := func(name string) string { return strings.ReplaceAll(name, "-", "_") }
	points := make([]map[string]any, len(k.xs))
	t := &report.Table{Name: "curve", Columns: []report.Column{{Name: strings.ReplaceAll(k.axis, "-", " ")}}}
	for _, m := range k.methods {
		t.Columns = append(t.Columns, report.Column{Name: string(m)})
	}
	fallback := false
	for j, x := range k.xs {
		eps := map[string]float64{}
		row := []any{short(x)}
		for i, m := range k.methods {
			eps[string(m)] = table[i][j].Epsilon
			row = append(row, roundUp(table[i][j].Epsilon, 6))
			fallback = fallback || table[i][j].Method != string(m)
		}
		points[j] = map[string]any{key(k.axis): x, "epsilon": eps}
		t.Add(row...)
	}
	a.table = t
	a.add("points", points, "", "")
	for _, name := range q.order {
		if name != k.axis {
			a.echo(q, name)
		}
	}
	if q.sampling != "" {
		a.add("sampling", q.sampling, "", "")
	}
	a.add("neighbouring", q.relation, "", "")
	a.add("unit", q.unit, "", "")
	a.statement = fmt.Sprintf("Epsilon for %s one %s against %s, the other numbers fixed.", change(q.relation), noun(q.unit), strings.ReplaceAll(k.axis, "-", " "))
	if fallback {
		a.warn("at some points the accountant asked for does not apply; the best other bound is drawn there")
	}
	return a
}
