package matrix

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/papers"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// importedRun imports random lists of 60 users, of whom 25 were not trained on.
func importedRun(t *testing.T) string {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var train, others, lists strings.Builder
	for _, b := range []*strings.Builder{&train, &others, &lists} {
		b.WriteString("user_id\titem_id\n")
	}
	for u := range 60 {
		to := &train
		if u < 25 {
			to = &others
		}
		for k, i := range r.Perm(50)[:18] {
			if k >= 6 {
				to = &lists
			}
			fmt.Fprintf(to, "u%d\ti%d\n", u, i)
		}
	}
	dir := t.TempDir()
	for name, b := range map[string]*strings.Builder{"train": &train, "others": &others, "lists": &lists} {
		if err := os.WriteFile(filepath.Join(dir, name+".tsv"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tasks := papers.All()
	at := slices.IndexFunc(tasks, func(x run.Task) bool { return x.String() == "import lists" })
	out := filepath.Join(dir, "run")
	_, err := tasks[at].Start(t.Context(), run.Options{Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{},
		Sets: []string{"name=Mine", "recs=" + filepath.Join(dir, "lists.tsv"), "rows.train=" + filepath.Join(dir, "train.tsv"), "rows.non_members=" + filepath.Join(dir, "others.tsv"), "run.out=" + out}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A run of imported lists is a row: attacks on lists have numbers, and others say what lists lack.
func TestOnImportedRuns(t *testing.T) {
	m, err := loaded(t, "needs: [held-out rows]}", "needs: [scores, held-out rows]}")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.OnRuns([]string{importedRun(t)}); err != nil {
		t.Fatal(err)
	}
	o := roster.Options{Size: "smoke", Out: t.TempDir(), Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}}
	p, _, err := m.Plan(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, ahead, err := p.Forecast(t.Context()); err != nil || ahead[0].ToMake+ahead[1].ToMake == 0 {
		t.Errorf("a forecast of what can be made: %v, %v", ahead, err)
	}
	x := made(t, m, "smoke", t.TempDir(), nil)
	if x.Err != nil {
		t.Fatal(x.Err)
	}
	if !strings.Contains(x.Document.Title, "finished runs") || strings.Contains(x.Document.Title+x.Name, "ml-") {
		t.Errorf("the title is %q, the files are called %s", x.Document.Title, x.Name)
	}
	for attack, why := range map[string]string{
		"rows": "the model shows lists and no scores", "users": "", "lists": "",
		"vectors": "an imported run has no attributes: --attributes names a table of them",
		"links":   "trained on all interactions: none is left to ask about",
	} {
		c := x.at(t, "Mine (not known)", attack)
		if c.Why != why || (c.Gain != nil) != (why == "") {
			t.Errorf("%s: %q, gain %v, want %q", attack, c.Why, c.Gain, why)
		}
	}
}

// A table of attributes gives an imported run its attack on attributes. Its lists are random, so that their gain is not
// told from the floor.
func TestAttributesOfImportedRuns(t *testing.T) {
	m, err := loaded(t, `metric: AUC gender, row: "vectors, logistic-regression", needs: [attributes, vectors]`,
		`set: ["attack.sees=[lists]", "attack.k=[5]"], metric: AUC gender, row: "lists, K = 5, logistic-regression", needs: [attributes]`)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Only([]string{"vectors"}); err != nil {
		t.Fatal(err)
	}
	table := "user_id\tgender\n"
	for u := 25; u < 60; u++ { // whom it was trained on
		table += fmt.Sprintf("u%d\t%s\n", u, []string{"F", "M"}[u%2])
	}
	m.Attributes = filepath.Join(t.TempDir(), "users.tsv")
	if err := os.WriteFile(m.Attributes, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.OnRuns([]string{importedRun(t)}); err != nil {
		t.Fatal(err)
	}
	x := made(t, m, "smoke", t.TempDir(), nil)
	if x.Err != nil {
		t.Fatal(x.Err)
	}
	if c := x.at(t, "Mine (not known)", "vectors"); c.Why != "" || c.Gain == nil {
		t.Errorf("%q, gain %v", c.Why, c.Gain)
	}
}
