package review

import (
	"encoding/json"
	"fmt"
	"io"

	"privrec/internal/privacy"
)

// Written holds the written files, and the answers at the top of the page.
type Written struct {
	*Review
	Out string
}

// Text writes a line about the files, and the conclusion.
func (w Written) Text(to io.Writer) error {
	_, err := fmt.Fprintf(to, "%s\n%s\n", w.Out, w.Conclusion())
	return err
}

// MarshalJSON writes the answers.
func (w Written) MarshalJSON() ([]byte, error) {
	x := answer{Out: w.Out, Source: w.Source, Conclusion: w.Conclusion(), Open: []string{}, Warnings: []string{},
		Ask: append([]string{}, w.Ask...)}
	if g, ok := w.main(); ok {
		all, part := privacy.Number(g.Epsilon), privacy.Number(g.Covered)
		x.Unit, x.Neighbours, x.Epsilon, x.Covered, x.Delta = g.Unit, string(g.Neighbours), &all, &part, g.Delta
	}
	if g, ok := w.main(); ok {
		for _, o := range g.Otherwise {
			x.Otherwise = append(x.Otherwise, otherwise{o.If, privacy.Number(o.Epsilon)})
		}
	}
	for _, o := range w.Open {
		x.Open = append(x.Open, o.What)
	}
	for _, o := range w.Warnings {
		x.Warnings = append(x.Warnings, o.Name+": "+o.Message)
	}
	return json.Marshal(x)
}

// answer is the JSON form of Written.
type answer struct {
	Out        string          `json:"out"`
	Source     string          `json:"source"`
	Conclusion string          `json:"conclusion"`
	Unit       string          `json:"unit,omitempty"`
	Neighbours string          `json:"neighbouring,omitempty"`
	Epsilon    *privacy.Number `json:"epsilon"` // null: no guarantee is stated
	Covered    *privacy.Number `json:"epsilon_protected,omitempty"`
	Delta      float64         `json:"delta,omitempty"`
	Otherwise  []otherwise     `json:"otherwise,omitempty"`
	Open       []string        `json:"unprotected"`
	Warnings   []string        `json:"warnings"`
	Ask        []string        `json:"questions"`
}

// otherwise holds the epsilon if one of its assumptions does not hold.
type otherwise struct {
	If      string         `json:"if"`
	Epsilon privacy.Number `json:"epsilon"`
}

// JSONForms returns the types that MarshalJSON writes.
func (Written) JSONForms() []any { return []any{answer{}} }
