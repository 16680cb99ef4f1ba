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
	"privrec/internal/system"
)

// Curve is a question asked at many values of one of its numbers.
type Curve struct {
	*Question
	Over        string // the axis: delta, noise, steps, or fpr: then it is the trade-off curve
	From, To    string // ends of the axis, in the range of its number
	Points      *Number
	Accountants []string // one line each; none: those that apply
	Out         string   // file to write, .svg or .png
	Force       bool     // replaces an existing file

	axis    string // the number that varies
	xs      []float64
	methods []accountant.Method
	lo, hi  float64
	rates   [][]float64 // of the axis fpr: true positive rates by method
	format  string
}

// AskCurve returns the question of how epsilon changes with one of the numbers.
func AskCurve(m *Mechanism) *Curve {
	k := &Curve{Question: AskAccount(m), Points: newNumber("points")}
	k.Points.v, k.Points.set = 25, true
	return k
}

// Draw computes the curve, writes its picture, and returns the values in the picture.
func (k *Curve) Draw(ctx context.Context, r run.Progress) (*Drawing, error) {
	table, err := k.compute(ctx, r)
	if err != nil {
		return nil, err
	}
	d := &Drawing{
		Title: k.title(), Out: k.Out, Over: k.Over, Axis: k.axis, X: k.xs, Methods: k.methods, Results: table,
		Rates:   k.rates,
		Subject: privacy.Subject{Unit: k.unit, Neighbouring: k.relation}, Asked: k.asked(k.axis),
	}
	image, err := d.figure().Image(k.format)
	if err != nil {
		return nil, err
	}
	if err := k.write(image); err != nil {
		return nil, err
	}
	r.Phase("written to " + k.Out)
	return d, nil
}

// Missing returns the names of required numbers and flags that are not given: all numbers except that on the axis, and
// the axis itself. It fails on an unknown axis, and if the number on the axis is given.
func (k *Curve) Missing() (names []string, err error) {
	q := k.Question
	axes := map[string]string{"delta": "delta", "noise": q.of.Noise, "steps": "steps", "fpr": "fpr"}
	if k.Over != "" && axes[k.Over] == "" {
		return nil, run.Usagef("", "--over is %q, want delta, noise, steps or fpr", clip(k.Over))
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
	if k.Over == "fpr" { // the curve is that of all deltas
		if q.numbers["fpr"] = newNumber("fpr"); q.given("delta") {
			return nil, run.Usagef("leave it out", "--delta does not go with --over fpr")
		}
		given["delta"] = true
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == k.axis || given[n] }), nil
}

// Check fails, before anything is computed, on unknown choices, on choices that exclude each other, and if the file
// could not be written.
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
		if k.Over == "fpr" {
			k.Accountants[0] = string(accountant.PLD)
		}
		if q.sampling == privacy.WithoutReplacement {
			k.Accountants = []string{string(accountant.RDP), string(accountant.PLD)}
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

// checkAxis reads the ends of the axis and computes the values between them.
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

// checkOut fails if the file could not be written.
func (k *Curve) checkOut() error {
	k.format = strings.ToLower(strings.TrimPrefix(filepath.Ext(k.Out), "."))
	if !slices.Contains(report.ImageFormats(), k.format) {
		return run.Usagef("", "--out is %q, want a name that ends in .svg or .png", clip(k.Out))
	}
	if info, err := os.Stat(filepath.Dir(k.Out)); err != nil || !info.IsDir() {
		return run.Usagef("make it first", "--out is %s, but there is no folder %s", k.Out, filepath.Dir(k.Out))
	}
	info, err := os.Stat(k.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return run.Usagef("choose another --out", "--out is %s, which is a folder", k.Out)
	case info.Mode().IsRegular() && !k.Force:
		return run.WithHint(fmt.Errorf("write %s: %w", k.Out, fs.ErrExist),
			"choose another --out, or --force to replace what is there")
	}
	return nil
}

// write writes the file, whole or not at all.
func (k *Curve) write(image []byte) error {
	if info, err := os.Stat(k.Out); err == nil && info.Mode().IsRegular() && !k.Force {
		// it was made during the computation
		return fmt.Errorf("write %s: %w", k.Out, fs.ErrExist)
	}
	return system.WriteFile(k.Out, func(w io.Writer) error {
		_, err := w.Write(image)
		return err
	})
}

// compute returns the answers of every accountant at every point. It fails at the first point without an answer.
func (k *Curve) compute(ctx context.Context, r run.Progress) ([][]accountant.Result, error) {
	k.During(ctx)
	table := make([][]accountant.Result, len(k.methods))
	r.Begin("curve", len(k.methods)*len(k.xs))
	defer r.End("")
	if k.Over == "fpr" {
		return table, k.tradeOff(ctx, r)
	}
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

// tradeOff reads the trade-off curve of every accountant at every false positive rate.
func (k *Curve) tradeOff(ctx context.Context, r run.Progress) error {
	for _, m := range k.methods {
		if err := ctx.Err(); err != nil {
			return err
		}
		books, err := k.books(m)
		if err != nil {
			return err
		}
		t, err := books.TradeOff()
		if err != nil {
			return err
		}
		rates := make([]float64, len(k.xs))
		for j, x := range k.xs {
			rates[j] = t.TPR(x)
		}
		k.rates = append(k.rates, rates)
		r.Add(len(k.xs))
	}
	return nil
}

// title returns the numbers that stay the same along the curve, as a title.
func (k *Curve) title() string {
	q := k.Question
	words := []string{strings.ReplaceAll(q.of.Name, "-", " ")}
	if q.sampling == privacy.WithoutReplacement {
		words = append(words, "without replacement")
	}
	for _, name := range q.order {
		if name != k.axis && q.numbers[name].set {
			words = append(words, strings.ReplaceAll(name, "-", " ")+" "+q.shown(name))
		}
	}
	return capitalise(strings.Join(append(words, string(q.relation)), ", "))
}
