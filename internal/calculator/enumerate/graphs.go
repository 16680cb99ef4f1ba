package enumerate

import (
	"fmt"
	"math/big"
	"strings"

	"privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism/edges"
	"privrec/internal/run"
)

// EdgeRand asks for the output distribution of randomised response on every cell of a small adjacency matrix.
type EdgeRand struct {
	Rows, Cols int
	Odds       Odds
}

// Answer computes the distribution for every matrix as input and as output.
func (q *EdgeRand) Answer() (*Answer, error) {
	if q.Rows < 1 || q.Cols < 1 || q.Rows > 64 || q.Cols > 64 {
		return nil, run.Usagef("", "--rows is %d and --cols %d, want 1 to 64", q.Rows, q.Cols)
	}
	if err := q.Odds.fill(); err != nil {
		return nil, err
	}
	cells := q.Rows * q.Cols
	if err := tooLarge("--rows or --cols", pow2(2*cells)); err != nil {
		return nil, err
	}
	flip := new(big.Rat).SetFloat64(edges.EdgeRand{Epsilon: q.Odds.Epsilon}.Flip())
	law := "every cell flips independently with the probability that this program computes, which is a rational " +
		"number; its sampler skips from flip to flip in floating point and is not enumerated"
	if q.Odds.x != nil {
		flip = new(big.Rat).Inv(new(big.Rat).Add(q.Odds.x, one))
		law = "every cell flips independently with probability 1/(e^epsilon + 1), in rational numbers; the sampler " +
			"skips from flip to flip in floating point and is not enumerated"
	}
	keep := new(big.Rat).Sub(one, flip)
	m := func(in string, c *exact.Choices) string {
		out := []byte(in)
		for i, b := range out {
			if b != '/' && c.Choose(keep, flip) == 1 {
				out[i] ^= 1 // '0' and '1'
			}
		}
		return string(out)
	}
	a := &Answer{Title: "Exact audit of EdgeRand", Epsilon: q.Odds.Epsilon, At: q.Odds.String() + ", of one cell",
		Size: fmt.Sprintf("all %d matrices of %d x %d cells", 1<<cells, q.Rows, q.Cols),
		Law:  law, Claim: "epsilon for one edge more or less (Wu, Long, Zhang, Li, LinkTeller, IEEE S&P 2022); a row " +
			"is a node's edges, and nothing is claimed but the sum over them"}
	classes := []exact.Class[string]{
		{Name: "an edge more or less", Pairs: q.neighbours(1)},
		{Name: "all edges of a row", Pairs: q.neighbours(q.Cols)},
	}
	return a, enumerate(a, &q.Odds, m, classes,
		[]claim{{classes[0].Name, 1, 1}, {classes[1].Name, float64(q.Cols), float64(q.Cols)}})
}

// neighbours yields every pair of matrices that differ in n consecutive cells of a row, which start at a multiple of n.
func (q *EdgeRand) neighbours(n int) func(yield func(a, b string) bool) {
	return func(yield func(a, b string) bool) {
		cells := q.Rows * q.Cols
		for w := range 1 << cells {
			for at := 0; at < cells; at += n {
				other := w ^ (1<<n-1)<<at
				if w < other && !yield(q.text(w), q.text(other)) {
					return
				}
			}
		}
	}
}

// text returns a matrix as its rows, separated by slashes.
func (q *EdgeRand) text(w int) string {
	bits := make([]byte, q.Rows*q.Cols)
	for i := range bits {
		bits[i] = '0' + byte(w>>i&1)
	}
	return rowsOf(string(bits), q.Cols)
}

// rowsOf puts slashes between rows.
func rowsOf(cells string, cols int) string {
	var rows []string
	for ; cells != ""; cells = cells[cols:] {
		rows = append(rows, cells[:cols])
	}
	return strings.Join(rows, "/")
}

func pow2(n int) float64 {
	f, _ := new(big.Float).SetMantExp(big.NewFloat(1), n).Float64()
	return f
}
