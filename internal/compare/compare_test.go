package compare

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/run"
	"privrec/internal/stats"
)

// write makes what a finished run leaves: a manifest and a table of scores.
func write(t *testing.T, seed uint64, name, rows string) string {
	t.Helper()
	dir := t.TempDir()
	m := run.Manifest{Task: "train x", ConfigHash: "00", Status: run.StatusDone, Seed: seed, Data: []run.Data{{Name: "rows", SHA256: "ab"}}}
	writeManifest(t, dir, m)
	addTable(t, dir, name, rows)
	return dir
}

func writeManifest(t *testing.T, dir string, m run.Manifest) {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func addTable(t *testing.T, dir, name, rows string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(rows)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, ref string) *Scores {
	t.Helper()
	s, err := ReadScores(ref)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func groups(t *testing.T, refs ...string) []Group {
	t.Helper()
	var out []Group
	for _, r := range refs {
		out = append(out, Group{Name: r, Runs: []*Scores{read(t, r)}})
	}
	return out
}

// The order of users in a file, and columns that are no metrics, change nothing.
func TestPairsByUser(t *testing.T) {
	a := write(t, 1, "scores.tsv.gz", "user_id\ttest_rows\tHR@5\tonly\nu1\t3\t0\t1\nu2\t1\t1\t1\nu3\t9\t0\t1\nu4\t1\t1\t1\n")
	b := write(t, 1, "scores.tsv.gz", "user_id\tplace\tHR@5\nu4\t+Inf\t1\nu3\t1\t1\nu2\t1\t1\nu1\t1\t1\n")
	r, err := Compare(groups(t, a, b))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Differences) != 1 || r.Differences[0].Metric != "HR@5" {
		t.Fatalf("differences %+v", r.Differences)
	}
	d := r.Differences[0]
	want, err := stats.TInterval([]float64{1, 0, 1, 0}, Confidence)
	if err != nil {
		t.Fatal(err)
	}
	test, err := stats.PairedT([]float64{1, 1, 1, 1}, []float64{0, 1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if d.Mean != 0.5 || math.Abs(d.Interval[0]-want.Lo) > 1e-12 || math.Abs(d.Interval[1]-want.Hi) > 1e-12 || math.Abs(*d.P-test.P) > 1e-12 || *d.Holm != *d.P {
		t.Errorf("difference %+v, want %v and p %v", d, want, test.P)
	}
}

// Seeds of a method are averaged user by user, and their spread stands beside.
func TestSeeds(t *testing.T) {
	table := "user_id\tHR@5\nu1\t%v\nu2\t%v\nu3\t%v\n"
	base := groups(t, write(t, 1, "scores.tsv.gz", fmt.Sprintf(table, 0, 0, 0.5)))
	g := Group{Name: "b", Runs: []*Scores{
		read(t, write(t, 1, "scores.tsv.gz", fmt.Sprintf(table, 1, 0, 1))),
		read(t, write(t, 2, "scores.tsv.gz", fmt.Sprintf(table, 0, 0, 0))),
	}}
	r, err := Compare(append(base, g))
	if err != nil {
		t.Fatal(err)
	}
	m := r.Means[1]
	if m.Group != "b" || math.Abs(m.Mean-1./3) > 1e-12 || m.SD == nil || math.Abs(*m.SD-math.Sqrt(2)/3) > 1e-12 || r.Means[0].SD != nil {
		t.Errorf("means %+v", r.Means)
	}
	if d := r.Differences[0].Mean; math.Abs(d-(0.5+0+0)/3) > 1e-12 {
		t.Errorf("difference %v", d)
	}
	if !strings.Contains(strings.Join(r.Notes, "\n"), "[1 2]") {
		t.Errorf("nothing is said of other seeds: %q", r.Notes)
	}
}

// Where runs report a mean over samples, users are clusters: the mean is theirs, and the
// interval covers the truth as often as it says, which a mean over samples taken as
// independent would not. 400 draws; the number of misses of a right 95 % interval lies in
// 2..46 except with probability 1e-9 (binomial, 400, 0.05).
func TestClusters(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	const users, draws = 60, 400
	misses, naive := 0, 0
	for range draws {
		w, a, b := make([]float64, users), make([]float64, users), make([]float64, users)
		var flat []float64
		for i := range w {
			w[i] = float64(1 + src.IntN(20))
			a[i] = src.NormFloat64()
			for range int(w[i]) {
				flat = append(flat, a[i])
			}
		}
		d, err := difference(a, b, w)
		if err != nil {
			t.Fatal(err)
		}
		if d.Interval[0] > 0 || d.Interval[1] < 0 {
			misses++
		}
		if i, err := stats.TInterval(flat, Confidence); err != nil || i.Lo > 0 || i.Hi < 0 {
			naive++
		}
	}
	if misses < 2 || misses > 46 {
		t.Errorf("%d of %d intervals miss", misses, draws)
	}
	if naive <= 46 {
		t.Errorf("a mean over samples misses %d times only: the test could not tell", naive)
	}
}

func TestNoDifference(t *testing.T) {
	a := write(t, 1, "scores.tsv.gz", "user_id\tx\nu1\t0.25\nu2\t1\n")
	r, err := Compare(groups(t, a, a))
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Differences[0]; d.Mean != 0 || *d.P != 1 || *d.Holm != 1 || d.Interval != nil {
		t.Errorf("%+v", d)
	}
}

// Where all users differ by the same, no variance can be estimated: p is that of the signs, there is no interval,
// and the page says why. One user says nothing of others. Of two metrics, one of which varies, that one is tested
// as ever, and both count in Holm's correction.
func TestEqualDifferences(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		p          []float64 // by metric; none: no test
		holm       []float64
		note       string
	}{
		{"two users", "user_id\tHR@1\nu1\t1\nu2\t1\n", "user_id\tHR@1\nu1\t0\nu2\t0\n", []float64{0.5}, []float64{0.5}, "exact sign test"},
		{"three users", "user_id\tHR@1\nu1\t1\nu2\t1\nu3\t1\n", "user_id\tHR@1\nu1\t0\nu2\t0\nu3\t0\n", []float64{0.25}, []float64{0.25}, "exact sign test"},
		{"rounding", "user_id\tHR@1\nu1\t0.3\nu2\t0.2\nu3\t0.1\n", "user_id\tHR@1\nu1\t0.2\nu2\t0.1\nu3\t0\n", []float64{0.25}, []float64{0.25}, "exact sign test"},
		{"samples", "user_id\tsamples\tHR@1\nu1\t4\t1\nu2\t9\t1\n", "user_id\tsamples\tHR@1\nu1\t4\t0.5\nu2\t9\t0.5\n", []float64{0.5}, []float64{0.5}, "exact sign test"},
		{"one user", "user_id\tHR@1\nu1\t1\n", "user_id\tHR@1\nu1\t0\n", []float64{-1}, []float64{-1}, "there is one user"},
		{"one user who does not differ", "user_id\tHR@1\nu1\t1\n", "user_id\tHR@1\nu1\t1\n", []float64{-1}, []float64{-1}, "there is one user"},
		{"one of two", "user_id\tHR@1\tMRR\nu1\t1\t1\nu2\t1\t0.5\n", "user_id\tHR@1\tMRR\nu1\t0\t0\nu2\t0\t0\n", []float64{0.5, 0.20483276469913345}, []float64{0.5, 0.4096655293982669}, "exact sign test"},
	} {
		r, err := Compare(groups(t, write(t, 1, "scores.tsv.gz", c.a), write(t, 1, "scores.tsv.gz", c.b)))
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range r.Differences {
			p, holm, varies := -1., -1., c.name == "one of two" && i == 1
			if d.P != nil {
				p, holm = *d.P, *d.Holm
			}
			if math.Abs(p-c.p[i]) > 1e-12 || math.Abs(holm-c.holm[i]) > 1e-12 || (d.Interval != nil) != varies {
				t.Errorf("%s: %s: p %v, Holm %v, interval %v, want p %v and %v", c.name, d.Metric, p, holm, d.Interval, c.p[i], c.holm[i])
			}
		}
		if !strings.Contains(strings.Join(r.Notes, "\n"), c.note) {
			t.Errorf("%s: %q", c.name, r.Notes)
		}
		text, err := r.MarshalJSON()
		if err != nil || strings.Contains(string(text), `"p":0`+",") || strings.Contains(string(text), `"p": 0`+",") {
			t.Errorf("%s: %v in %s", c.name, err, text)
		}
	}
}

func TestRefusals(t *testing.T) {
	good := "user_id\tx\nu1\t0\nu2\t1\n"
	other := write(t, 1, "scores.tsv.gz", good)
	m := run.Manifest{Task: "train x", ConfigHash: "00", Status: run.StatusDone, Data: []run.Data{{Name: "rows", SHA256: "cd"}}}
	writeManifest(t, other, m)
	open := write(t, 1, "scores.tsv.gz", good)
	writeManifest(t, open, run.Manifest{Task: "train x", ConfigHash: "00", Status: run.StatusInterrupted})
	several := write(t, 1, "scores-noisy.tsv.gz", good)
	addTable(t, several, "scores-clean.tsv.gz", good)
	for name, c := range map[string]struct{ ref, want string }{
		"not a run":       {t.TempDir(), "not a run directory"},
		"in a file":       {filepath.Join(other, "manifest.json"), "not a run directory"},
		"not finished":    {open, "the run is interrupted"},
		"other data":      {other, "its input rows differs from that of"},
		"fewer users":     {write(t, 1, "scores.tsv.gz", "user_id\tx\nu1\t0\n"), "it scored 1 users"},
		"other users":     {write(t, 1, "scores.tsv.gz", "user_id\tx\nu1\t0\nu3\t0\n"), `it scored user "u3"`},
		"other metrics":   {write(t, 1, "scores.tsv.gz", "user_id\ty\nu1\t0\nu2\t0\n"), "no metric in common"},
		"samples":         {write(t, 1, "scores.tsv.gz", "user_id\tsamples\tx\nu1\t1\t0\nu2\t1\t0\n"), "counts users and the other samples"},
		"several tables":  {several, "several tables of scores"},
		"unknown table":   {several + ":x", `no table of scores is called "x"`},
		"one table":       {write(t, 1, "scores.tsv.gz", good) + ":x", "keeps one table"},
		"no table":        {write(t, 1, "else.tsv.gz", good), "keeps no scores"},
		"no number":       {write(t, 1, "scores.tsv.gz", "user_id\tx\nu1\tzero\nu2\t0\n"), `line 2: x: "zero" is not a number`},
		"no finite value": {write(t, 1, "scores.tsv.gz", "user_id\tx\nu1\tNaN\nu2\t0\n"), "is NaN"},
		"short line":      {write(t, 1, "scores.tsv.gz", "user_id\tx\nu1\n"), "line 2: 1 columns"},
		"twice":           {write(t, 1, "scores.tsv.gz", "user_id\tx\nu1\t1\nu1\t1\n"), "is there twice"},
		"no key":          {write(t, 1, "scores.tsv.gz", "x\nu1\n"), "first column"},
		"empty":           {write(t, 1, "scores.tsv.gz", ""), "no users"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ReadScores(c.ref)
			if err == nil {
				base := groups(t, write(t, 1, "scores.tsv.gz", good))
				_, err = Compare(append(base, Group{Name: "b", Runs: []*Scores{s}}))
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A run's only table of scores needs no name.
func TestOnlyTable(t *testing.T) {
	dir := write(t, 1, "scores-noise-off.tsv.gz", "user_id\tx\nu1\t0\nu2\t1\n")
	for _, ref := range []string{dir, dir + ":noise-off"} {
		if s := read(t, ref); len(s.Users) != 2 {
			t.Errorf("%s: %d users", ref, len(s.Users))
		}
	}
	if _, err := ReadScores(dir + ":noise-on"); err == nil || !strings.Contains(err.Error(), `keeps one table of scores, which is not called "noise-on"`) {
		t.Error(err)
	}
}

// Columns that count or rank are not metrics; pairs of a user weigh as samples do.
func TestColumnsThatAreNoMetrics(t *testing.T) {
	s := read(t, write(t, 1, "scores.tsv.gz", "user_id\tpairs\trank\tplace\ttest_rows\tMRR@5\nu1\t3\t4\t4\t1\t0.25\n"))
	if len(s.Metrics) != 1 || s.Metrics[0] != "MRR@5" || len(s.Weights) != 1 || s.Weights[0] != 3 {
		t.Errorf("metrics %v, weights %v", s.Metrics, s.Weights)
	}
	_, err := ReadScores(write(t, 1, "scores.tsv.gz", "user_id\trank\nu1\t3\n"))
	if err == nil || !strings.Contains(err.Error(), "no metrics, only user_id, rank") {
		t.Error(err)
	}
}

// Runs on the same users of other data, or of another split, are told apart.
func TestOtherData(t *testing.T) {
	at := func(name, recipe string) string {
		dir := write(t, 1, "scores.tsv.gz", "user_id\tx\nu1\t0\nu2\t1\n")
		text := fmt.Sprintf(`{"data": {"name": %q, "recipe": %q}}`, name, recipe)
		if err := os.WriteFile(filepath.Join(dir, "metrics.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	first := at("tiny", "a")
	for ref, want := range map[string]string{at("tiny", "b"): "its test rows are those of recipe b, but " + first + " has those of a", at("huge", "a"): "it ran on huge, but " + first + " on tiny"} {
		if _, err := Compare(groups(t, first, ref)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Compare(groups(t, first, at("tiny", "a"))); err != nil {
		t.Error(err)
	}
}

func TestTables(t *testing.T) {
	dir := write(t, 1, "scores-noisy.tsv.gz", "user_id\tx\nu1\t0\nu2\t1\n")
	addTable(t, dir, "scores-clean.tsv.gz", "user_id\tx\nu1\t1\nu2\t1\n")
	r, err := Compare(groups(t, dir+":noisy", dir+":clean"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"50.00", "100.00", "+50.00"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// Scores among different numbers of sampled items are not compared. Those among all items are,
// whatever stands beside them.
func TestCandidatesDiffer(t *testing.T) {
	at := func(candidates int) string {
		dir := write(t, 1, "scores.tsv.gz", "user_id\ttest_rows\tRecall@5\nu1\t3\t0\nu2\t1\t1\n")
		addTable(t, dir, "scores-sampled.tsv.gz", "user_id\tsamples\tsampled Hit@5\nu1\t3\t0\nu2\t1\t1\n")
		text := fmt.Sprintf(`{"data": {"name": "tiny", "sampled_candidates": %d}}`, candidates)
		if err := os.WriteFile(filepath.Join(dir, "metrics.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	a, b, c := at(200), at(200), at(100)
	for _, ok := range [][2]string{{a + ":sampled", b + ":sampled"}, {a, c}} {
		if _, err := Compare(groups(t, ok[0], ok[1])); err != nil {
			t.Error(err)
		}
	}
	if _, err := Compare(groups(t, a+":sampled", c+":sampled")); err == nil || !strings.Contains(err.Error(), "its rows stand among 100 sampled items") {
		t.Errorf("%v", err)
	}
	r, err := Compare(groups(t, a+":sampled", b+":sampled"))
	if err != nil || r.Means[0].Mean != 0.25 { // over rows
		t.Errorf("%+v, %v", r.Means, err)
	}
}

// Imported runs compare where training rows and truth are the same, in any order and beside any non-members. A run and an
// import of it compare where each user has as many test rows.
func TestImportedRuns(t *testing.T) {
	scores := "user_id\ttest_rows\tRecall@20\na\t1\t1\nb\t2\t0.5\n"
	brought := func(sha, train, truth, scores string) *Scores {
		dir := t.TempDir()
		writeManifest(t, dir, run.Manifest{Task: "import vectors", ConfigHash: "00", Status: run.StatusDone, Seed: 1, Data: []run.Data{{Name: "imported rows", SHA256: sha}}})
		if err := os.Mkdir(filepath.Join(dir, "imported"), 0o700); err != nil {
			t.Fatal(err)
		}
		addTable(t, dir, "scores.tsv.gz", scores)
		addTable(t, filepath.Join(dir, "imported"), "train.tsv.gz", "user_id\titem_id\n"+train)
		addTable(t, filepath.Join(dir, "imported"), "truth.tsv.gz", "user_id\titem_id\n"+truth)
		return read(t, dir)
	}
	first := brought("00", "a\tx\nb\ty\n", "a\tz\n", scores)
	own := read(t, write(t, 1, "scores.tsv.gz", scores))
	for _, test := range []struct {
		name string
		a, b *Scores
		want string
	}{
		{"other non-members", first, brought("01", "b\ty\na\tx\n", "a\tz\n", scores), ""},
		{"other training rows", first, brought("02", "a\tx\n", "a\tz\n", scores), "was trained on other rows"},
		{"another truth", first, brought("03", "a\tx\nb\ty\n", "a\ty\n", scores), "is measured by other rows"},
		{"a run and its import", own, first, ""},
		{"fewer test rows", own, brought("04", "a\tx\nb\ty\n", "a\tz\n", "user_id\ttest_rows\tRecall@20\na\t1\t1\nb\t1\t0.5\n"), `user "b" has 1 test rows`},
	} {
		_, err := Compare([]Group{{"a", []*Scores{test.a}}, {"b", []*Scores{test.b}}})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
