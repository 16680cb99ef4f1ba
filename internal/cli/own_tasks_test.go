package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"privrec/internal/demo"
	"privrec/internal/experiment"
	"privrec/internal/papers"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// ownFolders writes the folders that the table of docs/add-your-own-data.md speaks of: own-shop, a
// log with features of users; own-pair, a log of each of two domains; own-feed, shown items.
func ownFolders(t *testing.T, dir string) {
	t.Helper()
	const users, items = 60, 170
	s := rng.Seed(7).Stream("own folders")
	files := map[string]*strings.Builder{}
	line := func(name, format string, args ...any) {
		if files[name] == nil {
			files[name] = &strings.Builder{}
		}
		fmt.Fprintf(files[name], format+"\n", args...)
	}
	line("own-shop/own-shop.csv", "user_id,item_id,rating,timestamp")
	line("own-shop/own-shop.user", "user_id:token\tgender:token\tage:float\toccupation:token")
	line("own-pair/target.csv", "user_id,item_id,timestamp")
	line("own-pair/source.csv", "user_id,item_id,timestamp")
	line("own-feed/impressions.csv", "user,item,shown,clicked")
	jobs := []string{"artist", "doctor", "student"}
	for i := range items {
		line("own-shop/catalogue.txt", "i%d", i)
	}
	for u := range users {
		line("own-shop/own-shop.user", "u%d\t%s\t%d\t%s", u, []string{"F", "M"}[u%2], 20+u%40, jobs[u%3])
		for at, k := range s.Perm(items)[:24+u%8] {
			line("own-shop/own-shop.csv", "u%d,i%d,%d,%d", u, k, 1+int(k)%5, 1_700_000_000+60*at+9000*(at/6))
			line("own-pair/"+[]string{"target", "source"}[at%2]+".csv", "u%d,i%d,%d", u, k, 1000+100*at)
		}
		for at, k := range s.Perm(items)[:60] {
			line("own-feed/impressions.csv", "u%d,i%d,%d,%d", u, k, 1000+100*at, min(1, s.IntN(3)%2))
		}
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// ownRow is a row of the table of docs/add-your-own-data.md.
type ownRow struct{ tasks, needs, command string }

// ownTable reads the table.
func ownTable(t *testing.T) (rows []ownRow) {
	t.Helper()
	page, err := os.ReadFile("../../docs/add-your-own-data.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "| tasks | what they need | command |\n| --- | --- | --- |\n")
	if !ok {
		t.Fatal("docs/add-your-own-data.md has no table of tasks")
	}
	text, _, _ = strings.Cut(text, "\n\n")
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		cells := strings.Split(strings.Trim(l, "| "), " | ")
		if len(cells) != 3 {
			t.Fatalf("not a row of three cells: %s", l)
		}
		rows = append(rows, ownRow{cells[0], cells[1], strings.Trim(cells[2], "`")})
	}
	return rows
}

// word finds the names of tasks in a cell.
var word = regexp.MustCompile("`([a-z0-9-]+)`")

// small makes a task that trains short and narrow, so that the test is quick. It changes no key
// that own data choose.
func small(task run.Task) (sets []string) {
	values := map[string]string{"train.epochs": "1", "model.dim": "8", "model.user_dim": "4", "attack.repeats": "2", "eval.negatives": "20", "model.length": "10",
		"attack.epochs": "1", "data.slate": "3", "data.behaviour": "2", "run.workers": "1"}
	if task.Name != "sasrec" {
		delete(values, "model.length") // of others it belongs to another protocol
	}
	for _, k := range task.Keys() {
		if v, ok := values[k.Path]; ok {
			sets = append(sets, "--set", k.Path+"="+v)
		}
	}
	return sets
}

// ownTasks lists the rows of the table with each of their tasks.
func ownTasks(t *testing.T, each func(row ownRow, task run.Task)) {
	t.Helper()
	tasks := papers.All()
	for _, row := range ownTable(t) {
		names := word.FindAllStringSubmatch(row.tasks, -1)
		if len(names) == 0 {
			t.Errorf("no task in %q", row.tasks)
		}
		for _, n := range names {
			at := slices.IndexFunc(tasks, func(x run.Task) bool {
				return x.Name == n[1] && strings.HasPrefix(row.command, "privrec "+x.Verb+" ")
			})
			if at < 0 {
				t.Errorf("no task %s of %s", n[1], row.command)
				continue
			}
			each(row, tasks[at])
		}
	}
}

// runOwnTable runs the tasks of the table that want takes, as its commands stand, on generated
// files: with nothing but the name of the data, here with fewer epochs and a narrow model.
func runOwnTable(t *testing.T, want func(task run.Task) bool) {
	data, runs := t.TempDir(), t.TempDir()
	ownFolders(t, data)
	t.Setenv("PRIVREC_DATA", data)
	t.Setenv("PRIVREC_CACHE", t.TempDir())
	ran := 0
	ownTasks(t, func(row ownRow, task run.Task) {
		if !want(task) {
			return
		}
		ran++
		t.Run(task.Verb+"-"+task.Name, func(t *testing.T) {
			args := shellWords(t, strings.NewReplacer("TASK", task.Name, "RUN", filepath.Join(runs, "train-bprmf"),
				"catalogue.txt", filepath.Join(data, "own-shop", "catalogue.txt")).Replace(row.command))
			out := filepath.Join(runs, task.Verb+"-"+task.Name)
			var stdout, stderr bytes.Buffer
			app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: &stdout, Stderr: &stderr}
			if code := app.Execute(context.Background(), slices.Concat(args[1:], small(task), []string{"--out", out, "--quiet"})); code != 0 {
				t.Fatalf("%s: exit %d\n%s", row.command, code, stderr.String())
			}
			checkOwn(t, out, task)
		})
	})
	if ran == 0 {
		t.Fatal("no task ran")
	}
}

// Every task that trains or attacks is in the table, and some of them run here. The others run in
// TestOwnTable.
func TestOwnTableLists(t *testing.T) {
	covered := map[string]bool{}
	ownTasks(t, func(_ ownRow, task run.Task) { covered[task.String()] = true })
	for _, task := range papers.All() {
		if verb := task.Verb; (verb == "train" || verb == "attack") && !covered[task.String()] {
			t.Errorf("%s is not in the table of docs/add-your-own-data.md", task)
		}
	}
	runOwnTable(t, func(task run.Task) bool { return slices.Contains([]string{"bprmf", "gru4rec", "dasl"}, task.Name) })
}

// checkOwn wants a result on own data of level C. A training that validation rows decide about has
// some, and models that rank all items are beside the floor that is computed at once.
func checkOwn(t *testing.T, dir string, task run.Task) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var o struct {
		Protocol string `json:"protocol"`
		Data     struct {
			Name  string `json:"name"`
			Level string `json:"evidence_level"`
			Valid *int   `json:"valid_rows"`
		} `json:"data"`
		Floors      []experiment.Scores `json:"floors"`
		Evaluations []experiment.Scores `json:"evaluations"`
	}
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(o.Data.Name, "own-") || o.Data.Level != "C" || len(o.Evaluations) == 0 {
		t.Errorf("data %+v, %d evaluations", o.Data, len(o.Evaluations))
	}
	file, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if o.Protocol == "top-n" && strings.Contains(string(file), "select: validation") && (o.Data.Valid == nil || *o.Data.Valid == 0) {
		t.Error("validation rows decide, and there are none")
	}
	strong := slices.ContainsFunc(o.Floors, func(s experiment.Scores) bool {
		return strings.HasPrefix(s.Name, "ItemKNN, computed") || strings.HasPrefix(s.Name, "EASE, computed")
	})
	if want := o.Protocol == "top-n" || o.Protocol == "next-item"; strong != want {
		t.Errorf("%s, protocol %s: the floor that is computed at once is there: %t", task, o.Protocol, strong)
	}
}
