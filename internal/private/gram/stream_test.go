package gram

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/private/release"
	"privrec/internal/private/stream"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// simulated are the keys of a simulated stream.
func simulated(more ...string) []string {
	return append([]string{"stream.days=10", "stream.day=6", "stream.strategy=blt", "stream.number=2",
		"stream.known=0.4",
		"stream.start=0.1", "stream.expected=5"}, more...)
}

// kept makes a stream of the training rows of the stand-in in a folder, with one release, and an item that the data do
// not have.
func kept(t *testing.T, secure bool) string {
	t.Helper()
	d := topntest.OnStandIn(t).Data
	s := stream.Settings{Epsilon: 6, Delta: 1e-6, Horizon: 3, Counts: 0.1, Items: 20, CountItems: 10, Expected: 5,
		Secure: secure, Seed: 1}
	name, number := "blt", 2
	if secure {
		name, number = "banded", 3
	}
	var err error
	if s.Design, err = stream.Design(name, s.Horizon, number, secure); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "stream")
	ids := append([]string{"elsewhere"}, d.ItemIDs...)
	o := stream.Start{NoiseSeed: 3}
	if secure {
		o.NoiseSeed = 0
	}
	if err := stream.Create(t.Context(), dir, s, ids, o); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("user_id\titem_id\n")
	for u, items := range d.Train {
		for _, i := range items {
			fmt.Fprintf(&text, "%s\t%s\n", d.UserIDs[u], d.ItemIDs[i])
		}
	}
	path := filepath.Join(t.TempDir(), "rows.tsv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := stream.Open(t.Context(), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(t.Context(), path, "", false); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Release(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// streamAccount fails unless a run states the epsilon of a stream, by a ledger of its releases alone.
func streamAccount(t *testing.T, dir string, epsilon float64, noise privacy.Noise, purposes ...string) {
	t.Helper()
	a := runtest.ReadJSON[release.Account](t, dir, "privacy.json", true)
	if !(a.Total <= privacy.Number(epsilon) && a.Total > privacy.Number(epsilon*(1-1e-6))) ||
		!strings.Contains(a.Claimed.Theorem, "all releases of a stream together") {
		t.Errorf("%+v", a)
	}
	l, err := (privacy.Reading{}).File(filepath.Join(dir, run.LedgerName))
	if err != nil || l.Noise() != noise {
		t.Fatal(l, err)
	}
	var got []string
	for _, e := range l.Entries() {
		got = append(got, e.Purpose)
	}
	if !slices.Equal(got, purposes) {
		t.Errorf("the ledger has %v, want %v", got, purposes)
	}
}

// A run takes its numbers from the release of a kept stream, states that stream's epsilon, names the items that it does
// not have, and keeps the release: it is resumed and asked when the stream is gone.
func TestFromAKeptStream(t *testing.T) {
	for _, secure := range []bool{false, true} {
		from := kept(t, secure)
		r, err := stream.Read(from)
		if err != nil {
			t.Fatal(err)
		}
		noise := privacy.Research
		if secure {
			noise = privacy.Secure
		}
		set := []string{"stream.from=" + from}
		finished, stopped := map[string]string{}, map[string]string{}
		for _, task := range suite.Tasks {
			dir := filepath.Join(t.TempDir(), task.Name)
			sets := set
			if task.Name == "dp-ease" { // the file of the release is as good as the folder
				sets = []string{"stream.from=" + filepath.Join(from, "released", "00001.safetensors")}
			}
			suite.Start(t, task, dir, sets...)
			m := runtest.ReadJSON[run.Manifest](t, dir, "manifest.json", false)
			for _, want := range []string{"step 1 of the stream " + r.ID,
				fmt.Sprintf("; 1 of the stream's %d items are not in the data", len(r.IDs))} {
				if !strings.Contains(strings.Join(m.Notes, "\n"), want) {
					t.Errorf("%s: no %q in %q", task.Name, want, m.Notes)
				}
			}
			streamAccount(t, dir, 6, noise, stream.CountsPurpose, stream.MatrixPurpose)
			own, err := readReleased(dir, m.ConfigHash, itemsOf(t, dir))
			if err != nil || !slices.Equal(own.counts, r.Counts[1:]) {
				t.Errorf("%s: other counts than the stream's (%v)", task.Name, err)
			}
			if task.Name != "dp-popularity" {
				m := len(r.Rows) // the first row is of the item that is missing
				if !slices.Equal(own.weights, r.Weights[1:]) || !slices.Equal(own.triangle, r.Matrix[m:]) {
					t.Errorf("%s: another matrix than the stream's", task.Name)
				}
			}
			finished[task.Name] = dir
			for look := 1; stopped[task.Name] == ""; look++ {
				dir := filepath.Join(t.TempDir(), fmt.Sprint(task.Name, look))
				err := suite.Try(runtest.NewFuse(t, look, nil), task, dir, sets, run.Options{})
				if !run.WasInterrupted(err) {
					t.Fatalf("%s: look %d: %v", task.Name, look, err)
				}
				if exists(filepath.Join(dir, ReleasedFile)) {
					stopped[task.Name] = dir
				}
			}
		}
		if err := os.Rename(from, from+"-gone"); err != nil {
			t.Fatal(err)
		}
		for _, task := range suite.Tasks {
			server := suite.Open(t, finished[task.Name])
			if _, err := server.Recommend(t.Context(), experiment.Question{Users: []string{"7"}, K: 3}); err != nil {
				t.Errorf("%s: %v", task.Name, err)
			}
			sets := set
			if task.Name == "dp-ease" {
				sets = []string{"stream.from=" + filepath.Join(from, "released", "00001.safetensors")}
			}
			if err := suite.Try(t.Context(), task, stopped[task.Name], sets, run.Options{Resume: true}); err != nil {
				t.Errorf("%s: resumed: %v", task.Name, err)
				continue
			}
			got, want := runtest.Artefacts(t, stopped[task.Name]), runtest.Artefacts(t, finished[task.Name])
			if secure { // the ledger of one that was resumed has one assumption more, and so have all that show it
				const file = "metrics.json"
				got, want = map[string]string{file: got[file]}, map[string]string{file: want[file]}
			}
			runtest.Same(t, task.Name+", resumed", got, want)
			dir := filepath.Join(t.TempDir(), "new")
			err := suite.Try(t.Context(), task, dir, sets, run.Options{})
			if err == nil || !strings.Contains(err.Error(), FromKey) {
				t.Errorf("%s: a new run of a stream that is gone: %v", task.Name, err)
			}
		}
	}
}

// A simulated stream leaves the same bytes on any number of workers, states the epsilon of the configuration for all
// its days, and counts a user who comes after the day of the model not at all.
func TestSimulatedStream(t *testing.T) {
	for _, name := range []string{"dp-ease", "dp-itemknn"} {
		task := suite.Task(t, name)
		var want map[string]string
		for _, workers := range []int{1, 2, 5} {
			dir := filepath.Join(t.TempDir(), fmt.Sprint(workers))
			suite.Start(t, task, dir, simulated(fmt.Sprint("run.workers=", workers))...)
			streamAccount(t, dir, 8, privacy.Research, stream.CountsPurpose, stream.StartPurpose, stream.MatrixPurpose)
			got := runtest.Artefacts(t, dir)
			if want == nil {
				want = got
			}
			runtest.Same(t, fmt.Sprintf("%d workers", workers), got, want)
		}
	}
	task, sum := suite.Task(t, "dp-ease"), map[string]float64{}
	for what, sets := range map[string][]string{"a day": {"stream.day=1"}, "all": {"stream.day=10"},
		"twice":       {"stream.day=10", "stream.copies=2"},
		"one release": {"stream.day=10", "stream.strategy=single", "stream.number=0"},
		"bands":       {"stream.day=10", "stream.strategy=banded", "stream.number=4"},
		"tree":        {"stream.day=10", "stream.strategy=tree", "stream.number=0"}} {
		dir := filepath.Join(t.TempDir(), "run")
		text := suite.Start(t, task, dir, simulated(append(sets, "privacy.epsilon=900")...)...)
		streamAccount(t, dir, 900, privacy.Research, stream.CountsPurpose, stream.StartPurpose, stream.MatrixPurpose)
		if said := strings.Contains(text, "users are counted 2 times"); said != (what == "twice") {
			t.Errorf("%s: that users are copied is said: %v", what, said)
		}
		hash := runtest.ReadJSON[run.Manifest](t, dir, "manifest.json", false).ConfigHash
		r, err := readReleased(dir, hash, itemsOf(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.counts {
			sum[what] += c
		}
	}
	for what, want := range map[string]float64{"twice": 2, "one release": 1, "bands": 1, "tree": 1} { // noise is small
		if got := sum[what] / sum["all"]; !(math.Abs(got-want) < 0.1) || !(sum["a day"] < 0.8*sum["all"]) {
			t.Errorf("%s: counts of %v times those of all users, want %v, and fewer on day 1: %v", what, got, want, sum)
		}
	}
}

func TestStreamConfigRefused(t *testing.T) {
	from := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		task, want string
		sets       []string
	}{
		{"dp-ease", "is a stream that is kept: leave out the other keys of stream",
			[]string{"stream.from=" + from, "stream.day=1"}},
		{"dp-ease", "no such file", []string{"stream.from=" + from}},
		{"dp-ease", "stream.days", []string{"stream.day=1"}},
		{"dp-ease", "stream.day", simulated("stream.day=11")},
		{"dp-ease", "stream.day", simulated("stream.day=0")},
		{"dp-ease", "stream.strategy: is missing", simulated("stream.strategy=", "stream.number=0")},
		{"dp-ease", "stream.strategy", simulated("stream.strategy=wavelet")},
		{"dp-ease", "is for blt and banded, and they need it, got 0", simulated("stream.number=0")},
		{"dp-ease", "is for blt and banded, and they need it, got 2", simulated("stream.strategy=tree")},
		{"dp-ease", "they choose the matrix", simulated("stream.known=0")},
		{"dp-ease", "they choose the matrix", simulated("stream.start=0")},
		{"dp-ease", "stream.expected", simulated("stream.expected=0")},
		{"dp-ease", "leaves nothing for the matrix", simulated("stream.start=0.95")},
		{"dp-ease", "11 bands", simulated("stream.strategy=banded", "stream.number=11")},
		{"dp-ease", "a simulated stream has no secure noise",
			simulated("privacy.secure=true", "stream.strategy=banded")},
		{"dp-ease", "a simulated stream has no secure noise", simulated("privacy.secure=true")},
		{"dp-popularity", "has no use here", simulated()},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		err := suite.Try(t.Context(), suite.Task(t, c.task), dir, c.sets, run.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.sets, err, c.want)
		}
		if exists(filepath.Join(dir, ReleasedFile)) {
			t.Errorf("%v: something was released", c.sets)
		}
	}
}
