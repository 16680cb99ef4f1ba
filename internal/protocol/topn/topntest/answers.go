package topntest

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// Seen returns the items that a user's ranking leaves out.
func Seen(d *dataset.Interactions, u int32) []int32 {
	if d.Valid == nil {
		return d.Train[u]
	}
	return slices.Concat(d.Train[u], d.Valid[u])
}

// Answer holds a server's answer as parsed from its JSON.
type Answer struct {
	Tables []struct {
		Name string           `json:"name"`
		Rows []map[string]any `json:"rows"`
	} `json:"tables"`
	Notes []string `json:"notes"`
}

// Read reads an answer from its JSON.
func Read(t *testing.T, r run.Result) (a Answer) {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// Open opens a finished run of the suite for its answers.
func (s Suite) Open(t *testing.T, dir string) experiment.Answers {
	t.Helper()
	server, err := experiment.Ask(t.Context(), s.Tasks, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// Answers checks the answers of every task's runs. They must recommend items that a user has not seen, best first, and
// rank as the run reported.
func (s Suite) Answers(t *testing.T) {
	for _, task := range s.Tasks {
		t.Run(task.Name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			s.Start(t, task, dir)
			before := runtest.Artefacts(t, dir)
			server := s.Open(t, dir)
			r, err := server.Recommend(t.Context(), experiment.Question{Users: []string{"7", "2"}, K: 6})
			if err != nil {
				t.Fatal(err)
			}
			rows := Read(t, r).Tables[0].Rows
			if len(rows) != 12 {
				t.Fatalf("%d rows for 2 users of 6", len(rows))
			}
			d := s.onStandIn(t).Data
			for k, row := range rows {
				user := []string{"7", "2"}[k/6]
				if row["user"] != user || row["rank"] != float64(k%6+1) {
					t.Errorf("row %d is %v", k, row)
				}
				if k%6 > 0 && row["score"].(float64) > rows[k-1]["score"].(float64) {
					t.Errorf("row %d scores above the one before", k)
				}
				u, i := slices.Index(d.UserIDs, user), slices.Index(d.ItemIDs, row["item"].(string))
				if slices.Contains(Seen(d, int32(u)), int32(i)) {
					t.Errorf("user %s is recommended item %v, which they have", user, row["item"])
				}
			}
			e, err := server.Evaluate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if a := Read(t, e); !slices.Contains(a.Notes, "equal to what the run reported") ||
				len(a.Tables[0].Rows) < 3 {
				t.Errorf("%+v", a)
			}
			runtest.Same(t, "after the questions", runtest.Artefacts(t, dir), before)
		})
	}
}
