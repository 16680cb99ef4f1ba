package pricdsr

import (
	"fmt"
	"math"

	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/report"
)

// Survivals returns, for every column, the probability that an item is in its own column after the perturbation: no
// earlier cell drew it, and its own kept it. In sdp-fixed and rr it is exact. In sdp-paper the share depends on the
// number of zeros that were written. The result is for rows without any, which is the largest: that of others is at
// least 1 - Length/Items of it, since a zero leaves one more id that a later cell may draw.
func Survivals(m sequence.Mechanism) []float64 {
	s := make([]float64, m.Length)
	there := 1.0 // that no cell before drew it
	for c := range s {
		keep := m.Keep(c)
		s[c] = there * keep
		if others := othersAfter(m, c); others > 0 {
			there *= 1 - m.Replace(c)/others
		}
	}
	return s
}

// othersAfter returns the number of other ids that a cell may draw and so take from a later cell; 0 if nothing moves.
func othersAfter(m sequence.Mechanism, k int) float64 {
	switch m.Variant {
	case sequence.SDPFixed, sequence.SDPUser:
		return float64(m.Items + m.Length - 1 - k)
	case sequence.SDPLengths:
		return float64(max(m.Items-1-k, 0))
	case sequence.SDPPaper:
		return float64(max(m.Items-k, 0))
	}
	return 0
}

// Outlook says how much noise to expect of an epsilon for a catalogue.
type Outlook string

// The outlooks. The change from noise to plain text takes place within 4 of ln m.
const (
	Noise     Outlook = "pure noise"
	Useful    Outlook = "in between"
	PlainText Outlook = "plain text"
)

const transition = 4

// OutlookOf compares an epsilon with ln m, at which half of the cells are kept.
func OutlookOf(epsilon float64, items int) Outlook {
	switch d := epsilon - math.Log(float64(items)); {
	case epsilon == 0 || d < -transition:
		return Noise
	case d > transition:
		return PlainText
	}
	return Useful
}

// Warning returns the consequences of an epsilon that is far from ln m; empty if it is near.
func Warning(m sequence.Mechanism) string {
	middle, name := math.Log(float64(m.Items)), "epsilon"
	if m.Variant == sequence.SDPUser {
		name = "a cell's epsilon"
	}
	switch o := OutlookOf(m.Draw(), m.Items); {
	case math.IsInf(m.Epsilon, 1):
		return "epsilon is infinite, the output is the rows as they are: nothing is protected"
	case m.Variant == sequence.Set && o == Noise:
		return fmt.Sprintf("epsilon %g is far below ln m = %.2f: beside half of a row's items a set has about %.3g "+
			"others, the output is pure noise", m.Epsilon, middle, float64(m.Items)*setNoise(m))
	case m.Variant == sequence.Set && o == PlainText:
		return fmt.Sprintf("epsilon %g is far above ln m = %.2f: a set has half of a row's items and about %.3g "+
			"others, the output is nearly half of the plain text", m.Epsilon, middle, float64(m.Items)*setNoise(m))
	case o == Noise:
		return fmt.Sprintf("%s %g is far below ln m = %.2f: a share %.3g of the cells is kept, the output is pure "+
			"noise", name, m.Draw(), middle, m.Keep(0))
	case o == PlainText:
		return fmt.Sprintf("%s %g is far above ln m = %.2f: a share %.3g of the cells is replaced, the output is "+
			"nearly plain text", name, m.Draw(), middle, m.Replace(0))
	}
	return ""
}

// setNoise returns the probability with which Set draws an item that is not in the row.
func setNoise(m sequence.Mechanism) float64 { return 1 / (math.Exp(m.Epsilon) + 1) }

// halfKept returns the epsilon at which the first cell of a row is kept with probability one half: the logarithm of the
// number of other ids there, which for sdp-fixed includes the names of zeros. For sdp-user it is that times the number
// of cells in a row.
func halfKept(m sequence.Mechanism) float64 {
	switch m.Variant {
	case sequence.SDPFixed:
		return math.Log(float64(m.Items) + float64(m.Length) - 1)
	case sequence.SDPUser:
		return float64(m.Length) * math.Log(float64(m.Items)+float64(m.Length)-1)
	}
	return math.Log(float64(m.Items))
}

// Epsilons returns the epsilons of a sweep over the transition: whole numbers from ln m - 5 to ln m + 5, above 0. For
// sdp-user they are multiplied by the number of cells in a row.
func Epsilons(m sequence.Mechanism) (list []float64) {
	middle, cells := math.Log(float64(m.Items)), 1.0
	if m.Variant == sequence.SDPUser {
		cells = float64(m.Length)
	}
	for e := math.Floor(middle - 5); e <= math.Ceil(middle+5); e++ {
		if e > 0 {
			list = append(list, cells*e)
		}
	}
	return list
}

// KeepTable returns a table of predictions at every epsilon for rows full of items, without any data. Its columns are
// the share of cells that keep their id at the first and at the last cell, the share replaced, the mean share of items
// found in their column, the number of these in a full row, the chance of at least one, and the epsilon of a user's
// whole row.
func KeepTable(m sequence.Mechanism, epsilons []float64) *report.Table {
	if m.Variant == sequence.Set {
		return setTable(m, epsilons)
	}
	t := &report.Table{
		Name: "keep",
		Title: fmt.Sprintf("What is kept of %d cells, %d items, %s (ln m = %.2f)", m.Length, m.Items, m.Variant,
			math.Log(float64(m.Items))),
		Columns: []report.Column{
			{Name: "epsilon", Format: "%g"}, {Name: "kept", Format: "%.6g"}, {Name: "kept, last cell", Format: "%.6g"},
			{Name: "replaced", Format: "%.3g"},
			{Name: "in place", Format: "%.6g"}, {Name: "items of a full row", Format: "%.3g"},
			{Name: "at least one", Format: "%.3g"},
			{Name: "epsilon of a user", Format: "%g"}, {Name: "outlook"},
		},
	}
	for _, e := range epsilons {
		m.Epsilon = e
		sum, none := 0.0, 1.0
		for _, s := range Survivals(m) {
			sum += s
			none *= 1 - s
		}
		t.Add(e, m.Keep(0), m.Keep(m.Length-1), m.Replace(0), sum/float64(m.Length), sum, 1-none, userEpsilon(m),
			string(OutlookOf(m.Draw(), m.Items)))
	}
	return t
}

// userEpsilon returns the epsilon of a user's whole row.
func userEpsilon(m sequence.Mechanism) float64 {
	if m.Variant == sequence.SDPUser {
		return m.Epsilon
	}
	return m.Epsilon * float64(m.Length)
}

// setTable returns a table of predictions about a set at every epsilon: how many other items are drawn beside half of a
// row's, and the share of a full row's items among those drawn.
func setTable(m sequence.Mechanism, epsilons []float64) *report.Table {
	t := &report.Table{
		Name: "keep",
		Title: fmt.Sprintf("What sets of rows of at most %d items are made of, %d items in all (ln m = %.2f)", m.Length,
			m.Items, math.Log(float64(m.Items))),
		Columns: []report.Column{
			{Name: "epsilon", Format: "%g"}, {Name: "items kept", Format: "%g"}, {Name: "other items", Format: "%.3g"},
			{Name: "own share, full row", Format: "%.3g"},
			{Name: "epsilon of a user", Format: "%g"}, {Name: "outlook"},
		},
	}
	for _, e := range epsilons {
		m.Epsilon = e
		t.Add(e, m.Keep(0), float64(max(0, m.Items-m.Length))*setNoise(m), ownShare(m), userEpsilon(m),
			string(OutlookOf(e, m.Items)))
	}
	return t
}

// ownShare returns the expected number of a full row's items in its set, as a share of the expected number of all items
// in it.
func ownShare(m sequence.Mechanism) float64 {
	own := float64(m.Length) * m.Keep(0)
	return own / (own + float64(max(0, m.Items-m.Length))*setNoise(m))
}

// KeepFigure returns a figure of the share of items kept over epsilon, with the table's values as points and ln m
// dashed. For a set it is the share of its items that are from a full row.
func KeepFigure(m sequence.Mechanism, epsilons []float64) report.Figure {
	middle := math.Log(float64(m.Items))
	line := report.Line{Name: fmt.Sprintf("m = %d", m.Items)}
	for _, e := range epsilons {
		m.Epsilon = e
		y := m.Keep(0)
		if m.Variant == sequence.Set {
			y = ownShare(m)
		}
		line.X, line.Y = append(line.X, e), append(line.Y, y)
	}
	title, x, y := "Share of cells kept", "epsilon of a cell", "share kept"
	switch m.Variant {
	case sequence.Set:
		title, x, y = "Share of a set that a full row has", "epsilon of an interaction", "share"
	case sequence.SDPUser:
		x = "epsilon of a user"
		middle *= float64(m.Length)
	}
	return report.Figure{
		Title: fmt.Sprintf("%s, %s", title, m.Variant), X: x, Y: y,
		Lines:   []report.Line{line, {Name: "ln m", X: []float64{middle, middle}, Y: []float64{0, 1}, Dashed: true}},
		Caption: "Below ln m - 4 the rows are noise, above ln m + 4 they are as they were.",
	}
}

// Forecast returns the keep table as a document, with its figure.
func Forecast(m sequence.Mechanism, epsilons []float64) *report.Document {
	return &report.Document{
		Title:    "What perturbing would keep",
		Subtitle: "a forecast from the size of the catalogue alone: no data is read",
		Tables:   []*report.Table{KeepTable(m, epsilons)},
		Figures:  []report.Figure{KeepFigure(m, epsilons)},
		Notes:    forecastNotes(m),
	}
}

// forecastNotes returns notes that explain the table.
func forecastNotes(m sequence.Mechanism) []string {
	if m.Variant == sequence.Set {
		return []string{
			"Every item of a row is in its set with probability 1/2, every other one with 1/(e^epsilon + 1). Order " +
				"is not released.",
			fmt.Sprintf("epsilon protects one interaction of one user, added, removed, replaced or moved; for the "+
				"whole row of a user epsilon is at most as many times that as the row has cells: %d.", m.Length),
		}
	}
	protects := fmt.Sprintf("epsilon protects one cell of one user, or the order of two; for the whole row of a user "+
		"epsilon is as many times that as the row has cells: %d.", m.Length)
	switch m.Variant {
	case sequence.SDPUser:
		protects = fmt.Sprintf("epsilon protects the whole row of a user; a cell has one part in %d of it.", m.Length)
	case sequence.SDPLengths:
		protects += " How many items a row has is not protected."
	}
	return []string{
		fmt.Sprintf("The first item of a row is kept with the share under \"kept\"; half are at epsilon = %.2f.",
			halfKept(m)),
		"A person whose history is known is found again wherever one item stays in its column: by chance a wrong row " +
			"agrees in a column once in m.",
		protects,
	}
}
