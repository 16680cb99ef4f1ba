package matrix

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"privrec/internal/report"
	"privrec/internal/reproduce/results"
	"privrec/internal/run"
	"privrec/internal/system"
)

// file is what the JSON file of a matrix holds.
type file struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Meaning string   `json:"meaning"`
	Utility string   `json:"utility,omitempty"`
	Models  []Model  `json:"models"`
	Cells   [][]Cell `json:"cells"` // by model and attack
}

// MarshalJSON writes what the JSON file holds. It has no times.
func (x *Made) MarshalJSON() ([]byte, error) {
	return json.Marshal(file{Name: x.Name, Title: x.Document.Title, Meaning: Meaning, Models: x.Models, Cells: x.Cells})
}

// JSONForms says what MarshalJSON writes.
func (*Made) JSONForms() []any { return []any{file{}} }

// write writes the files of a matrix into a folder, each whole or not at all.
func (x *Made) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return run.WithHint(fmt.Errorf("write the matrix: %w", err), "choose a writable --out")
	}
	type output struct {
		suffix string
		write  func(w io.Writer) error
	}
	list := []output{{".md", x.Document.Markdown}, {".html", x.Document.HTML}, {".csv", x.csv}, {".json", x.json},
		{"-runs.json", func(w io.Writer) error { return results.WriteTimings(w, x.Runs) }}}
	for _, format := range report.ImageFormats() {
		list = append(list, output{"." + format, func(w io.Writer) error {
			b, err := x.heat.Image(format)
			if err != nil {
				return err
			}
			_, err = w.Write(b)
			return err
		}})
	}
	for _, f := range list {
		path := filepath.Join(dir, x.Name+f.suffix)
		if err := system.WriteFile(path, f.write); err != nil {
			return err
		}
		x.Files = append(x.Files, path)
	}
	return nil
}

// json writes the JSON file.
func (x *Made) json(w io.Writer) error {
	b, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// csv writes a line for each cell.
func (x *Made) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	lines := [][]string{{"attack", "model", "defence", "data", "metric", "row", "value", "floor", "floor_name", "gain",
		"low", "high", "verdict", "why",
		"sees", "guess_budget", "asked_about", "level", "seeds", "accounted_epsilon", "unit"}}
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	}
	for i, row := range x.Cells {
		eps := ""
		if e := x.Models[i].Epsilon; e != nil {
			eps = e.String()
		}
		for _, c := range row {
			lines = append(lines, []string{c.Attack, c.Model, c.Defence, c.Data, c.Metric, c.Row, number(c.Value),
				number(c.Floor), c.Over, number(c.Gain), number(c.Low), number(c.High),
				c.Verdict, c.Why, c.Sees, c.Budget, c.About, c.Level, strconv.Itoa(c.Seeds), eps, x.Models[i].Unit})
		}
	}
	return out.WriteAll(lines)
}
