package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"

	"privrec/internal/papers/pricdsr"
	"privrec/internal/perturb"
	"privrec/internal/privacy"
)

// tryPerturb runs the command, which may fail.
func tryPerturb(t *testing.T, args ...string) error {
	t.Helper()
	flags := flag.NewFlagSet("perturb pricdsr", flag.ContinueOnError)
	work := perturbPricdsr(flags)
	if err := flags.Parse(append([]string{"--epsilon", "3", "--items", "60", "--length", "9"}, args...)); err != nil {
		t.Fatal(err)
	}
	return work(t.Context(), io.Discard, io.Discard)
}

// inputOf writes the rows of some users to a file.
func inputOf(t *testing.T, dir string, users int) string {
	t.Helper()
	path := filepath.Join(dir, "in.tsv")
	if err := os.WriteFile(path, []byte(head+newTable(users, 1).one), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// shownTimes returns how often the tables of all shards in a folder show a user, at most and at least.
func shownTimes(t *testing.T, pattern string) (users, most int) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		own := map[string]bool{}
		for _, line := range strings.Split(string(b), "\n")[1:] {
			if id, _, ok := strings.Cut(line, "\t"); ok && !own[id] {
				own[id] = true
				times[id]++
				most = max(most, times[id])
			}
		}
	}
	return len(times), most
}

// Shards of another job under the same name are refused, and with --force replaced: a user who is in
// shards of both would be shown twice, with other noise each time.
func TestShardsOfAnotherJob(t *testing.T) {
	dir := t.TempDir()
	in, out := inputOf(t, dir, 200), filepath.Join(dir, "p.tsv")
	if err := tryPerturb(t, "--input", in, "--output", out, "--secure", "--shards", "8"); err != nil {
		t.Fatal(err)
	}
	jobs, err := filepath.Glob(filepath.Join(dir, "p.job.*"))
	if err != nil || len(jobs) == 0 {
		t.Fatal(jobs, err)
	}
	for _, name := range jobs { // all that a list of 3 shards would find
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--input", in, "--output", out, "--secure", "--shards", "3"}
	if err := tryPerturb(t, args...); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("eight shards are there: %v", err)
	}
	if err := tryPerturb(t, append(args, "--force")...); err != nil {
		t.Fatal(err)
	}
	if users, most := shownTimes(t, filepath.Join(dir, "p.shard-*.tsv")); users < 200 || most != 1 {
		t.Errorf("%d users, shown %d times", users, most)
	}
	merged(t, out)
}

// Of two jobs at once with one name one is refused: each would release, and one ledger be left.
func TestTwoJobsAtOnce(t *testing.T) {
	dir := t.TempDir()
	in, out := inputOf(t, dir, 300), filepath.Join(dir, "p.tsv")
	for _, more := range [][]string{nil, {"--force"}} {
		errs := make([]error, 4)
		var start, wg sync.WaitGroup
		start.Add(1)
		for i := range errs {
			wg.Go(func() {
				start.Wait()
				errs[i] = tryPerturb(t, append([]string{"--input", in, "--output", out, "--secure", "--shards", "2"}, more...)...)
			})
		}
		start.Done()
		wg.Wait()
		ok := 0
		for _, err := range errs {
			switch {
			case err == nil:
				ok++
			case !strings.Contains(err.Error(), "is there already") && !strings.Contains(err.Error(), "another job"):
				t.Error(err)
			}
		}
		if ok < 1 || ok > 1 && more == nil { // with --force one may come after the other
			t.Errorf("%v: %d jobs went through", more, ok)
		}
		if _, most := shownTimes(t, filepath.Join(dir, "p.shard-*.tsv")); most != 1 {
			t.Errorf("%v: a user is shown %d times", more, most)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "p.job.running")); left != nil {
			t.Errorf("%v: left %v", more, left)
		}
	}
	merged(t, out)
}

// What a killed driver leaves stops the next job, until it is told to replace it. The claim of a process that
// lives is never taken.
func TestKilledDriver(t *testing.T) {
	dir := t.TempDir()
	in, out := inputOf(t, dir, 20), filepath.Join(dir, "p.tsv")
	args := []string{"--input", in, "--output", out, "--seed", "1", "--shards", "2"}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text, want string
		force            bool
	}{
		{"p.job.ledger.jsonl", "", "is there already", false},
		{"p.job.running", fmt.Sprintf("%q %d\n", host, os.Getpid()), "another job", true},
		{"p.job.running", fmt.Sprintf("%q %d\n", "another machine", 1), "another job", true},
		{"p.job.running", "", "another job", true},
		{"p.job.running", fmt.Sprintf("%q %d\n", host, 1<<30), "", true}, // no such process
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		more := args
		if c.force {
			more = append(more, "--force")
		}
		err := tryPerturb(t, more...)
		if fmt.Sprint(err) != "<nil>" && c.want == "" || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %q: %v, want %q", c.name, c.text, err, c.want)
		}
		if _, err := os.Stat(path); err != nil && c.want != "" {
			t.Errorf("%s is gone", c.name)
		}
		os.Remove(path)
	}
}

// A pattern that finds what jobs wrote would perturb noise, or have its input replaced.
func TestInputIsNoOutput(t *testing.T) {
	dir := t.TempDir()
	in, out := inputOf(t, dir, 30), filepath.Join(dir, "p.tsv")
	if err := tryPerturb(t, "--input", in, "--output", out, "--seed", "1", "--shards", "2"); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"*.tsv", "p.tsv"}, {"*.tsv", "q.tsv"}, {"in.tsv", "in.tsv"}, {"p.shard-*.tsv", "p.tsv"}} {
		err := tryPerturb(t, "--input", filepath.Join(dir, c[0]), "--output", filepath.Join(dir, c[1]), "--seed", "1", "--shards", "2", "--force")
		if err == nil || !strings.Contains(err.Error(), "is an output") {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// A job whose engine lost or doubled a file, a shard or rows fails, and one in which a file that all workers
// read changed.
func TestLostAndDoubled(t *testing.T) {
	j := job{Inputs: []string{"a", "b"}, Shards: 2}
	good := func() notes {
		return notes{Files: []fileNote{{File: 0, Rows: 3}, {File: 1, Rows: 4}}, Shards: []shardNote{{Shard: 1, Rows: 2}, {Shard: 2, Rows: 5}}}
	}
	if n := good(); n.check(j) != nil {
		t.Fatal(n.check(j))
	}
	for name, spoil := range map[string]func(n *notes){
		"a shard is lost":    func(n *notes) { n.Shards = n.Shards[:1] },
		"a shard is doubled": func(n *notes) { n.Shards = append(n.Shards, n.Shards[1]) },
		"a file is lost":     func(n *notes) { n.Files = n.Files[:1] },
		"a file is doubled":  func(n *notes) { n.Files[1] = n.Files[0] },
		"rows are lost":      func(n *notes) { n.Shards[0].Rows-- },
		"counts are lost":    func(n *notes) { n.Files[0].Counted = 1 },
		"pasts are lost":     func(n *notes) { n.Pasts = []pastNote{{Rows: 1}} },
	} {
		n := good()
		spoil(&n)
		if n.check(j) == nil {
			t.Errorf("%s, and no error", name)
		}
	}
	list, _ := json.Marshal(pieceNote{"x", 3, 1})
	again := []string{string(list), string(list)}
	if _, err := pieceNotes(func(s *string) bool {
		if len(again) == 0 {
			return false
		}
		*s, again = again[0], again[1:]
		return true
	}); err == nil {
		t.Error("pieces of a file came twice, and no error")
	}
}

// An engine may make a shard again, with other bits: one attempt gets the names of the shard, and the other
// is gone with the working folder.
func TestAttempts(t *testing.T) {
	dir := t.TempDir()
	in := inputOf(t, dir, 90)
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	o := pricdsr.Options{Settings: perturb.Settings{Items: 60, Length: 9, Secure: true, Workers: 1, Purpose: "sequences", OutForm: "tsv"}, Epsilon: 3, Variant: "sdp-fixed"}
	j := job{Kind: pricdsr.Kind, Histories: &o, Out: "p.tsv", Inputs: []string{in}, Shards: 1, Parts: 1, Work: work}
	var pieces []pieceNote
	file, err := j.split(t.Context(), 0, func(_ int, text string) {
		var p pieceNote
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Error(err)
		}
		pieces = append(pieces, p)
	})
	if err != nil {
		t.Fatal(err)
	}
	var made []shardNote
	for range 2 {
		n, err := j.make(t.Context(), 1, pieces)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, n)
	}
	if made[0].Folder == made[1].Folder || made[0].Part.Tables[0].SHA256 == made[1].Part.Tables[0].SHA256 {
		t.Fatalf("both attempts are %s", made[0].Folder)
	}
	out := outputs{filepath.Join(dir, "p.tsv"), 1, work}
	path := filepath.Join(work, "ledger.jsonl")
	l, err := privacy.CreateLedger(path, privacy.Secure, nil)
	if err == nil {
		err = j.declare(t.Context(), l)
	}
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	seal, _ := l.Seal()
	all := notes{Files: []fileNote{file}, Shards: made[1:]}
	if err := all.check(j); err != nil {
		t.Fatal(err)
	}
	if _, _, err := out.commit(t.Context(), j, all, seal, path); err != nil {
		t.Fatal(err)
	}
	if users, most := shownTimes(t, filepath.Join(dir, "p.shard-*.tsv")); users != 90 || most != 1 {
		t.Errorf("%d users, shown %d times", users, most)
	}
	changed := made[0]
	changed.Shard = 2
	changed.Part.Others = []string{"another catalogue"}
	j.Shards, out.shards = 2, 2
	if _, _, err := out.commit(t.Context(), j, notes{Files: all.Files, Shards: []shardNote{made[0], changed}}, seal, path); err == nil || !strings.Contains(err.Error(), "changed while") {
		t.Errorf("a catalogue changed: %v", err)
	}
}

// The whole job works on a file system that is not of this machine, and leaves nothing but its outputs there.
func TestRemoteFiles(t *testing.T) {
	dir := t.TempDir()
	x := newTable(150, 3)
	fs, err := filesystem.New(t.Context(), "memfs://remote/x")
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range x.files {
		if err := filesystem.Write(t.Context(), fs, fmt.Sprintf("memfs://remote/in-%d.tsv", i), []byte(head+text)); err != nil {
			t.Fatal(err)
		}
	}
	one := filepath.Join(dir, "one.tsv")
	if err := os.WriteFile(one, []byte(head+x.one), 0o644); err != nil {
		t.Fatal(err)
	}
	alone(t, one, filepath.Join(dir, "want.tsv"), false)
	args := []string{"--input", "memfs://remote/in-*", "--output", "memfs://remote/p.tsv", "--work", "memfs://work", "--seed", "5", "--shards", "3"}
	if err := tryPerturb(t, args...); err != nil {
		t.Fatal(err)
	}
	if err := tryPerturb(t, args...); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a second job: %v", err)
	}
	list, err := fs.List(t.Context(), "memfs://remote/p.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		b, err := filesystem.Read(t.Context(), fs, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Contains(list, "memfs://remote/p.job.ledger.jsonl") || slices.Contains(list, "memfs://remote/p.job.running") {
		t.Errorf("outputs are %v", list)
	}
	merged(t, filepath.Join(dir, "p.tsv"))
	same(t, filepath.Join(dir, "p.tsv"), filepath.Join(dir, "want.tsv"))
	for _, pattern := range []string{"memfs://work/*", "memfs://work/*/*", "memfs://work/*/*/*", "memfs://remote/*/*", "memfs://remote/.*"} {
		if left, err := fs.List(t.Context(), pattern); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v (%v)", left, err)
		}
	}
}
