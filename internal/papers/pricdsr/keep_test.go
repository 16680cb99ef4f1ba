package pricdsr

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/report"
)

// The table of section 6.7 of the notes on the paper: what is kept of the three
// Amazon domains, in the digits printed there.
func TestKeepTableOfTheDomains(t *testing.T) {
	for _, c := range []struct {
		epsilon float64
		want    [3]float64 // Movie, CD, Book
		tol     float64
	}{
		{1, [3]float64{4.57e-5, 2.98e-5, 1.15e-5}, 5e-3}, {2, [3]float64{1.24e-4, 8.10e-5, 3.13e-5}, 5e-3},
		{5, [3]float64{2.49e-3, 1.63e-3, 6.28e-4}, 5e-3}, {10, [3]float64{0.2701, 0.1946, 0.0853}, 2e-3}, {20, [3]float64{0.99988, 0.99981, 0.99951}, 1e-5},
	} {
		for i, items := range []int{59_513, 91_169, 236_049} {
			for _, v := range []sequence.Variant{sequence.SDPPaper, sequence.SDPFixed} {
				m := sequence.Mechanism{Variant: v, Items: items, Length: 101}
				row := KeepTable(m, []float64{c.epsilon}).Rows[0]
				if got := row[1].(float64); math.Abs(got/c.want[i]-1) > c.tol {
					t.Errorf("%s, epsilon %g, m %d: %g, want %g", v, c.epsilon, items, got, c.want[i])
				}
				if row[0] != c.epsilon || row[7] != 101*c.epsilon {
					t.Errorf("row %v", row)
				}
			}
		}
	}
}

// Survivals against the exact law of the named-zero mechanism, written down anew: every
// draw enumerated, for a row of items.
func TestSurvivalsAreExact(t *testing.T) {
	const items, length = 3, 3
	x := 4.0
	var law func(cells []int, written map[int]bool, c int, p float64, sum []float64)
	start := []int{0, 1, 2} // tokens; universe items+length
	law = func(cells []int, written map[int]bool, c int, p float64, sum []float64) {
		if c == length {
			for i := range start {
				if cells[i] == start[i] {
					sum[i] += p
				}
			}
			return
		}
		n := items + length - len(written)
		for id := range items + length {
			if written[id] {
				continue
			}
			q := 1 / (x + float64(n-1))
			if id == cells[c] {
				q *= x
			}
			next := append([]int(nil), cells...)
			for l := c + 1; l < length; l++ {
				if next[l] == id {
					next[l] = next[c]
				}
			}
			next[c] = id
			w := map[int]bool{id: true}
			for k := range written {
				w[k] = true
			}
			law(next, w, c+1, p*q, sum)
		}
	}
	want := make([]float64, length)
	law(start, map[int]bool{}, 0, 1, want)
	got := Survivals(sequence.Mechanism{Variant: sequence.SDPFixed, Epsilon: math.Log(x), Items: items, Length: length})
	for c := range got {
		if math.Abs(got[c]-want[c]) > 1e-12 {
			t.Errorf("column %d: %g, want %g", c, got[c], want[c])
		}
	}
	if Survivals(sequence.Mechanism{Variant: sequence.RR, Epsilon: 1, Items: 7, Length: 4})[3] != 1/(1+7*math.Exp(-1)) {
		t.Error("rr: cells are on their own")
	}
}

// In sdp-paper no item survives with more than the closed form, and none with less than a share
// 1 - Length/Items of it: every draw of every row, enumerated from figure 2 of the paper.
func TestSurvivalsOfThePaperAreAnUpperEnd(t *testing.T) {
	const items, length = 6, 3
	for _, x := range []float64{1, 5, 400} {
		form := Survivals(sequence.Mechanism{Variant: sequence.SDPPaper, Epsilon: math.Log(x), Items: items, Length: length})
		for row := range (items + 1) * (items + 1) * (items + 1) {
			start := []int{row % (items + 1), row / (items + 1) % (items + 1), row / (items + 1) / (items + 1)}
			if start[0] != 0 && (start[0] == start[1] || start[0] == start[2]) || start[1] != 0 && start[1] == start[2] {
				continue
			}
			var survived [length]float64
			var law func(cells []int, c int, p float64)
			law = func(cells []int, c int, p float64) {
				if c == length {
					for i := range start {
						if start[i] != 0 && cells[i] == start[i] {
							survived[i] += p
						}
					}
					return
				}
				var open []int
				for id := range items + 1 {
					if id == 0 || !slices.Contains(cells[:c], id) {
						open = append(open, id)
					}
				}
				for _, id := range open {
					q := 1 / (x + float64(len(open)-1))
					next := slices.Clone(cells)
					if id == cells[c] {
						q *= x
					} else if at := slices.Index(next[c+1:], id); id != 0 && at >= 0 {
						next[c+1+at] = next[c]
					}
					next[c] = id
					law(next, c+1, p*q)
				}
			}
			law(start, 0, 1)
			for c, got := range survived {
				if least := 1 - float64(length)/items; start[c] != 0 && !(got <= form[c]*(1+1e-12) && got >= form[c]*least) {
					t.Fatalf("x %g, row %v, column %d: %g survive, closed form %g, least share of it %g", x, start, c, got, form[c], least)
				}
			}
		}
	}
}

func TestOutlooks(t *testing.T) {
	middle := math.Log(37868)
	for e, want := range map[float64]Outlook{0: Noise, middle - 4.01: Noise, middle - 3.99: Useful, middle: Useful, middle + 3.99: Useful, middle + 4.01: PlainText, math.Inf(1): PlainText} {
		if got := OutlookOf(e, 37868); got != want {
			t.Errorf("%g: %s, want %s", e, got, want)
		}
		m := sequence.Mechanism{Variant: sequence.SDPFixed, Epsilon: e, Items: 37868, Length: 51}
		if w := Warning(m); (w == "") != (want == Useful) || math.IsInf(e, 1) && !strings.Contains(w, "nothing is protected") {
			t.Errorf("%g: warning %q", e, w)
		}
	}
	of := func(items int) []float64 { return Epsilons(sequence.Mechanism{Items: items, Length: 3}) }
	list := of(37868)
	if list[0] != 5 || list[len(list)-1] != 16 || len(of(1)) == 0 || of(1)[0] != 1 {
		t.Errorf("%v, %v", list, of(1))
	}
}

// The figure can be drawn, and shows what the table has.
func TestKeepFigure(t *testing.T) {
	m := sequence.Mechanism{Variant: sequence.SDPFixed, Items: 37868, Length: 51}
	list := Epsilons(m)
	d := Forecast(m, list)
	for i, row := range d.Tables[0].Rows {
		if d.Figures[0].Lines[0].Y[i] != row[1] {
			t.Errorf("epsilon %g: %v and %v", list[i], d.Figures[0].Lines[0].Y[i], row[1])
		}
	}
	for _, format := range report.ImageFormats() {
		if b, err := d.Figures[0].Image(format); err != nil || len(b) == 0 {
			t.Errorf("%s: %v", format, err)
		}
	}
}
