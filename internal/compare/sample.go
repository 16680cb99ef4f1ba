package compare

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Sampled describes the whole table from which some users' scores were kept.
type Sampled struct {
	Users int                `json:"users"` // in the whole table
	Means map[string]float64 `json:"means"` // over all of them, by metric, as Scores.Mean
}

// sampleMark begins the first line of a table of a sample. The rest of the line is a Sampled as JSON.
const sampleMark = "#"

// Mean returns the mean of a metric over users, or over samples if users have several. For a sample of users it is the
// mean of the whole table.
func (s *Scores) Mean(metric string) float64 {
	if s.Sampled != nil {
		return s.Sampled.Means[metric]
	}
	sum, n := 0.0, 0.0
	for u, x := range s.Values[metric] {
		w := s.Weight(u)
		sum, n = sum+w*x, n+w
	}
	return sum / n
}

// Whole returns the number of users in the whole table.
func (s *Scores) Whole() int {
	if s.Sampled != nil {
		return s.Sampled.Users
	}
	return len(s.Users)
}

// Sample returns the scores of n users. The choice depends on the users' ids alone, so samples of several runs have the
// same users, and a smaller sample is part of a larger one. A table of at most n users is returned as it is.
func (s *Scores) Sample(n int) *Scores {
	if n >= len(s.Users) {
		return s
	}
	order := make([]int, len(s.Users))
	place := make([][32]byte, len(s.Users))
	for i, id := range s.Users {
		order[i], place[i] = i, sha256.Sum256([]byte(id))
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(place[a][:], place[b][:]) })
	order = order[:n]
	slices.Sort(order)
	out := *s
	out.Sampled = &Sampled{Users: s.Whole(), Means: map[string]float64{}}
	out.Values = map[string][]float64{}
	pick := func(of []float64) (kept []float64) {
		for _, i := range order {
			if of != nil {
				kept = append(kept, of[i])
			}
		}
		return kept
	}
	out.Users, out.Weights, out.Rows = nil, pick(s.Weights), pick(s.Rows)
	for _, i := range order {
		out.Users = append(out.Users, s.Users[i])
	}
	for _, m := range s.Metrics {
		out.Sampled.Means[m], out.Values[m] = s.Mean(m), pick(s.Values[m])
	}
	return &out
}

// Write writes the table in the form that ReadScores reads, uncompressed: users, their weights if they have any, and
// metrics with digits significant digits.
func (s *Scores) Write(w io.Writer, digits int) error {
	var b bytes.Buffer
	if s.Sampled != nil {
		head, err := json.Marshal(s.Sampled)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s%s\n", sampleMark, head)
	}
	columns := []string{keyColumn}
	if s.Weights != nil {
		columns = append(columns, samplesColumn)
	}
	b.WriteString(strings.Join(append(columns, s.Metrics...), "\t") + "\n")
	for i, id := range s.Users {
		b.WriteString(id)
		if s.Weights != nil {
			fmt.Fprintf(&b, "\t%g", s.Weights[i])
		}
		for _, m := range s.Metrics {
			b.WriteByte('\t')
			b.WriteString(strconv.FormatFloat(s.Values[m][i], 'g', digits, 64))
		}
		b.WriteByte('\n')
	}
	_, err := b.WriteTo(w)
	return err
}
