package matrix

import (
	"encoding/json"
	"slices"

	"privrec/internal/reproduce/roster"
	"privrec/internal/system"
)

// readEarlier reads the JSON file of a matrix that was made before, nil where there is none that can be read.
func readEarlier(path string) *file {
	b, err := system.ReadFile(path, system.MostOfRun)
	if err != nil {
		return nil
	}
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return nil
	}
	return &f
}

// remember takes reasons from an earlier matrix: why the same attack cannot be made on the same trainings.
// Whether it can is only known with the data, which --no-run does without.
func (x *Made) remember(before *file) {
	if before == nil {
		return
	}
	for i := range x.Cells {
		at := slices.IndexFunc(before.Models, func(m Model) bool {
			return len(m.Runs) > 0 && slices.Equal(m.Runs, x.Models[i].Runs) && m.Model == x.Models[i].Model &&
				m.Defence == x.Models[i].Defence
		})
		if at < 0 || at >= len(before.Cells) {
			continue
		}
		for k := range x.Cells[i] {
			c := &x.Cells[i][k]
			if c.Gain != nil || c.State == "" || c.State == roster.LeftOut || c.State == roster.Failed {
				continue
			}
			for _, b := range before.Cells[at] {
				if b.Attack == c.Attack && b.Metric == c.Metric && b.State == roster.LeftOut && b.Why != "" {
					c.State, c.Why = b.State, b.Why
				}
			}
		}
	}
}
