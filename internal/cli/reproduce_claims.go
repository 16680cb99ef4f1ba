package cli

import (
	"encoding/json"

	"privrec/configs"
	"privrec/internal/claims"
	"privrec/internal/reproduce"
	"privrec/internal/run"
)

// verdicts is the claims of papers with their verdicts, as one JSON document.
type verdicts struct {
	Size    string           `json:"profile"`
	Out     string           `json:"out"`
	Meaning string           `json:"meaning"`
	Papers  []*claims.Result `json:"papers"`
}

// showClaims holds the claims of papers against the finished runs below --out, and shows the
// verdicts. It starts nothing.
func (a *App) showClaims(papers []string, f tableFlags) error {
	if f.table != 0 || f.figure != 0 || f.grid != "" || f.list || f.dryRun {
		return usagef("leave out --table, --figure, --grid, --list and --dry-run", "--claims shows the claims of whole papers")
	}
	grids, err := reproduce.BuiltIn(configs.Files(), a.Tasks)
	if err != nil {
		return err
	}
	if grids, err = reproduce.Of(grids, papers); err != nil {
		return err
	}
	list, err := reproduce.Claims(configs.Files(), grids, papers...)
	if err != nil {
		return err
	}
	results, err := reproduce.Verdicts(list, grids, reproduce.Options{Size: f.profile, Out: f.out, Sets: f.sets})
	if err != nil {
		return err
	}
	if !f.json {
		return run.Show(a.Stdout, false, claims.Document(results))
	}
	b, err := json.MarshalIndent(verdicts{f.profile, f.out, claims.Meaning, results}, "", "  ")
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(append(b, '\n'))
	return err
}
