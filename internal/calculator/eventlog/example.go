package eventlog

import (
	_ "embed"
	"encoding/json"
	"io"
)

//go:embed example.yaml
var example string

// Example prints a file of events to start from, with every key of a training.
type Example struct{}

// Text writes the file.
func (Example) Text(w io.Writer) error {
	_, err := io.WriteString(w, example)
	return err
}

// MarshalJSON writes the file as a JSON string.
func (Example) MarshalJSON() ([]byte, error) {
	return json.Marshal(exampleForm{example})
}

// exampleForm is the file in JSON.
type exampleForm struct {
	YAML string `json:"yaml"`
}

// JSONForms returns the types that MarshalJSON writes.
func (Example) JSONForms() []any { return []any{exampleForm{}} }
