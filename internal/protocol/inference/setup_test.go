package inference

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// task is the attack without runs to attack.
func task() run.Task {
	return run.Spec[Config]{Verb: "attack", Name: "attribute", Default: Default, Check: Check, Open: func(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
		return Open(ctx, env, c, nil, nil)
	}}.Task()
}

// attack runs the attack and returns its directory and what it printed.
func attack(t *testing.T, sets ...string) (dir, text string, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	var out bytes.Buffer
	_, err = task().Start(t.Context(), run.Options{Sets: append([]string{"run.out=" + dir}, sets...), Stdout: &out, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
	return dir, out.String(), err
}

// measured runs the attack, which must not fail.
func measured(t *testing.T, sets ...string) Outcome {
	t.Helper()
	dir, _, err := attack(t, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return runtest.ReadJSON[Outcome](t, dir, "metrics.json", false)
}

// written writes a file into a folder of its own.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// planted writes users of two classes of the same size, whose interactions say nothing and
// whose lists of 5 are of their own class's half of the items with probability lean; with
// shuffled the table has the classes in another order. It returns the settings that name the
// files.
func planted(t *testing.T, users int, lean float64, shuffled bool) []string {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	var lists, had, table strings.Builder
	lists.WriteString("user\trank\titem\n")
	had.WriteString("user\titem\n")
	table.WriteString("user\tside\n")
	order := r.Perm(users)
	for u := range users {
		side := u % 2
		for _, i := range r.Perm(60)[:12] {
			fmt.Fprintf(&had, "u%d\ti%d\n", u, i)
		}
		own, other := r.Perm(15), r.Perm(15)
		for k := range 5 {
			item := 2*own[k] + side
			if r.Float64() >= lean {
				item = 2*other[k] + 1 - side
			}
			fmt.Fprintf(&lists, "u%d\t%d\ti%d\n", u, k+1, item)
		}
		if shuffled {
			side = order[u] % 2
		}
		fmt.Fprintf(&table, "u%d\t%c\n", u, "LR"[side])
	}
	return []string{"files.lists=" + written(t, "lists.tsv", lists.String()), "files.interactions=" + written(t, "had.tsv", had.String()),
		"files.attributes=" + written(t, "table.tsv", table.String()), "attributes=[{name: side}]", "attack.k=[5]", "profile=own"}
}
