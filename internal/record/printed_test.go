package record

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privrec/configs"
	"privrec/internal/printed"
)

// papers are the numbers that papers print, and other published results, by
// PAPER/BLOCK/DATA/METHOD or PAPER/sentence/ABOUT, where that is not one row with a part of its setting as in
// /attribute age; then by column.
type papers map[string]map[string]printed.Value

func printedNumbers(t *testing.T) papers {
	t.Helper()
	files, err := printed.Load(configs.Files())
	if err != nil {
		t.Fatal(err)
	}
	out := papers{}
	for _, v := range printed.Values(files) {
		if v.Improvement {
			continue
		}
		base := strings.Join([]string{v.Paper, v.Block, v.Data, v.Method}, "/")
		refs := []string{base}
		for key, value := range v.Setting {
			refs = append(refs, fmt.Sprintf("%s/%s %s", base, key, value))
		}
		for _, ref := range refs {
			if out[ref] == nil {
				out[ref] = map[string]printed.Value{}
			}
			if old, ok := out[ref][v.Column]; ok && old.Line != v.Line {
				old.Number.Value = nil // two rows: the setting must be named
				out[ref][v.Column] = old
			} else {
				out[ref][v.Column] = v
			}
		}
	}
	for _, f := range files {
		for i, one := range f.Sentences {
			out[f.Paper+"/sentence/"+one.About] = map[string]printed.Value{"value": {
				Paper: f.Paper, Where: one.Where, Block: one.Where, Column: one.About, Metric: printed.Metric{Unit: one.Unit}, Number: one.Value,
				Line: f.Line(fmt.Sprintf("sentences.%d", i)),
			}}
		}
	}
	return out
}

// get returns a printed number, shares in percent.
func (p papers) get(ref, column string) (number, error) {
	row, ok := p[ref]
	if !ok {
		return number{}, fmt.Errorf("nothing printed is called %q", ref)
	}
	v, ok := row[column]
	if !ok {
		return number{}, fmt.Errorf("printed %s has no column %q; it has %s", ref, column, strings.Join(keys(row), ", "))
	}
	if v.Number.Value == nil {
		return number{}, fmt.Errorf("printed %s, %s: %q is no number, or two rows have that name", ref, column, v.Number.Text)
	}
	n := number{from: []string{fmt.Sprintf("configs/printed/%s.yaml:%d, %s", v.Paper, v.Line, v.Place())}}
	n.Mean, n.SD, n.Decimals = *v.Number.Value, math.NaN(), v.Number.Digits
	if v.Metric.Unit == printed.Share {
		n.Mean, n.Decimals = 100*n.Mean, max(0, n.Decimals-2)
	}
	n.Text = fmt.Sprintf("%.*f", n.Decimals, n.Mean)
	return n, nil
}

// mean returns the mean over the columns of a row, to one more decimal than it prints.
func (p papers) mean(ref string) (number, error) {
	out := number{Value: Value{SD: math.NaN(), Decimals: 1, Text: "mean"}}
	columns := keys(p[ref])
	for _, column := range columns {
		n, err := p.get(ref, column)
		if err != nil {
			return number{}, err
		}
		out.Mean += n.Mean
		out.from = []string{strings.TrimSuffix(n.from[0], ", "+column)}
	}
	if out.from == nil {
		return number{}, fmt.Errorf("nothing printed is called %q", ref)
	}
	out.Mean = out.Mean/float64(len(columns)) + 1e-9 // ties upwards, whatever the sum rounds to
	return out, nil
}
