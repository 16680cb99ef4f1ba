package calculator

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

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/report"
	"privrec/internal/run"
)

// Curve is a question asked at many values of one of its numbers.
type Curve struct {
	*Question
	Over        string // the axis: delta, noise or steps
	From, To    string // ends of the axis, in the range of its number
	Points      *Number
	Accountants []string // a line each; none: those that apply
	Out         string   // file to write, .svg or .png
	Force       bool     // replaces a file of that name

	axis    string // the number that varies
	xs      []float64
	methods []accountant.Method
	lo, hi  float64
	format  string
}

// AskCurve returns the question of how epsilon goes with one of the numbers.
func AskCurve(m *Mechanism) *Curve {
	k := &Curve{Question: AskAccount(m), Points: newNumber("points")}
	k.Points.v, k.Points.set = 25, true
	return k
}

// Draw computes the curve, writes its picture, and answers with the values.
func (k *Curve) Draw(ctx context.Context, r run.Progress) (*Answer, error) {
	table, err := k.compute(ctx, r)
	if err != nil {
		return nil, err
	}
	image, err := k.figure(table).Image(k.format)
	if err != nil {
		return nil, err
	}
	if err := k.write(image); err != nil {
		return nil, err
	}
	r.Phase("written to " + k.Out)
	return k.answer(table), nil
}

// Missing names what is asked for and not given: all numbers but that on the axis, and the
// axis itself. An axis that is not known, or whose number is given, is refused.
func (k *Curve) Missing() (names []string, err error) {
	q := k.Question
	axes := map[string]string{"delta": "delta", "noise": q.of.Noise, "steps": "steps"}
	if k.Over != "" && axes[k.Over] == "" {
		return nil, run.Usagef("", "--over is %q, want delta, noise or steps", clip(k.Over))
	}
	k.axis = axes[k.Over]
	given := map[string]bool{"over": k.Over != "", "from": k.From != "", "to": k.To != "", "out": k.Out != ""}
	for name, n := range q.numbers {
		given[name] = n.set
	}
	if k.axis != "" && given[k.axis] {
		return nil, run.Usagef("leave it out", "--%s is the axis of --over %s", k.axis, k.Over)
	}
	names = append(slices.Clone(q.order), "over", "from", "to", "out")
	return slices.DeleteFunc(names, func(n string) bool { return n == k.axis || given[n] }), nil
}

// Check refuses what is not known, does not fit together, or would keep the file from being
// written, before anything is computed.
func (k *Curve) Check() error {
	q := k.Question
	if err := q.checkRelation(); err != nil {
		return err
	}
	if err := k.checkAxis(); err != nil {
		return err
	}
	if len(k.Accountants) == 0 {
		k.Accountants = []string{string(accountant.RDP), string(accountant.Contour)}
		if q.sampling == privacy.WithoutReplacement {
			k.Accountants = k.Accountants[:1]
		}
	}
	for _, text := range k.Accountants {
		if err := q.setMethod("accountants", text); err != nil {
			return err
		}
		if slices.Contains(k.methods, q.method) {
			return run.Usagef("", "--accountants names %s twice", q.method)
		}
		k.methods = append(k.methods, q.method)
	}
	return k.checkOut()
}

// checkAxis reads the ends of the axis and spaces the values between them.
func (k *Curve) checkAxis() (err error) {
	s := k.numbers[k.axis].span
	if k.lo, err = s.parse("from", k.From); err != nil {
		return err
	}
	if k.hi, err = s.parse("to", k.To); err != nil {
		return err
	}
	if k.lo >= k.hi {
		return run.Usagef("", "--from is %s and --to is %s, want the smaller first", clip(k.From), clip(k.To))
	}
	n := int(k.Points.v)
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
func (k *Curve) checkOut() error {
	k.format = strings.ToLower(strings.TrimPrefix(filepath.Ext(k.Out), "."))
	if !slices.Contains(report.ImageFormats(), k.format) {
		return run.Usagef("", "--out is %q, want a name that ends in .svg or .png", clip(k.Out))
	}
	if info, err := os.Stat(filepath.Dir(k.Out)); err != nil || !info.IsDir() {
		return run.Usagef("make it first", "--out is %s, but there is no folder %s", k.Out, filepath.Dir(k.Out))
	}
	info, err := os.Lstat(k.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return run.Usagef("choose another --out", "--out is %s, which is there and is no file", k.Out)
	case !k.Force:
		return run.WithHint(fmt.Errorf("write %s: %w", k.Out, fs.ErrExist), "choose another --out, or --force to replace what is there")
	}
	return nil
}

// write makes the file, whole or not at all.
func (k *Curve) write(image []byte) error {
	if _, err := os.Lstat(k.Out); err == nil && !k.Force { // made while we computed
		return fmt.Errorf("write %s: %w", k.Out, fs.ErrExist)
	}
	return run.WriteFile(k.Out, func(w io.Writer) error {
		_, err := w.Write(image)
		return err
	})
}

// compute asks every accountant at every point; the first that has no answer ends it.
func (k *Curve) compute(ctx context.Context, r run.Progress) ([][]accountant.Result, error) {
	table := make([][]accountant.Result, len(k.methods))
	r.Begin("curve", len(k.methods)*len(k.xs))
	defer r.End("")
	for i, m := range k.methods {
		for _, x := range k.xs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			k.put(k.axis, x)
			got, err := k.spent(m)
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
func (k *Curve) figure(table [][]accountant.Result) report.Figure {
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
func (k *Curve) title() string {
	q := k.Question
	parts := []string{strings.ReplaceAll(q.of.Name, "-", " ")}
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
func (k *Curve) answer(table [][]accountant.Result) *Answer {
	q := k.Question
	a := &Answer{title: k.title()}
	a.add("out", k.Out, "written", k.Out)
	a.add("over", k.Over, "", "")
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
