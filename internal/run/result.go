package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Result is a result to show, as text and as JSON.
type Result interface {
	Text(w io.Writer) error
}

// Page is a Result that can be a web page too.
type Page interface {
	HTML(w io.Writer) error
}

// Show writes a result as text or as indented JSON.
func Show(w io.Writer, asJSON bool, r Result) error {
	if !asJSON {
		return r.Text(w)
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// Leading is a Result that can begin with a line of the run.
type Leading interface {
	Lead(line string)
}

// leading is an account that begins with a line of the run.
type leading struct {
	line    string
	account any
}

// MarshalJSON implements json.Marshaler.
func (l leading) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(l.account)
	if err != nil {
		return nil, err
	}
	first, err := json.Marshal(l.line)
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(b, []byte("{"))
	if !ok {
		return nil, fmt.Errorf("an account of type %T is no JSON object", l.account)
	}
	if !bytes.HasPrefix(rest, []byte("}")) {
		first = append(first, ',')
	}
	return slices.Concat([]byte(`{"noise_can_be_repeated":`), first, rest), nil
}
