//go:build !f64

package papers

import (
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// noisyOnOwn lists for every task with noise the settings, of stops, whose draws differ, and the kind of
// data. A setting stands here by its name in stops.
var noisyOnOwn = map[string]struct {
	data     string
	settings []string
}{
	"train dp-popularity": {"own-shop", []string{"counts", "next item"}},
	"train dp-ease":       {"own-shop", []string{"matrix", "next item"}},
	"train dp-itemknn":    {"own-shop", []string{"matrix"}},
	"train dp-als":        {"own-shop", []string{"all cells", "next item", "observed ratings"}},
	"train dp-sgd-mf":     {"own-shop", []string{"sampled", "all users", "allocated users", "deferred noise"}},
	"train dpae":          {"own-shop", []string{"users", "allocated users"}},
	"train dpmf":          {"own-shop", []string{"ratings", "public users"}},
	"train dpne":          {"own-shop", []string{"adjacency", "public users"}},
	"train gerai":         {"own-shop", []string{"noise", "one draw", "scalar", "repaired"}},
	"train rdpgcf":        {"own-shop", []string{"layers", "sampled", "repaired", "repaired, edges apart"}},
	"train edgerand":      {"own-shop", []string{"private", "true labels"}},
	"train lapgraph":      {"own-shop", []string{"private"}},
	"train dipsgnn":       {"own-shop", []string{"noise", "features raw", "noise on edges", "swaps", "counted prefixes"}},
	"train dpsgd":         {"own-shop", []string{"samples", "users, ids", "interactions", "allocated users"}},
	"train dpmf-exp":      {"own-shop", []string{"ratings", "noise in every epoch"}},
	"train dpmf-imp":      {"own-shop", []string{"interactions"}},
	"train pricdsr":       {"own-pair", []string{"perturbed", "sets", "last items"}},
	"train dasl":          {"own-pair", nil}, // with auxiliary rows that are drawn
	"attack exposure":     {"own-feed", []string{"protected", "sweep"}},
	"audit pricdsr":       {"own-shop", []string{"two cells", "whole rows"}},
	"audit gerai":         {"own-shop", []string{"an attribute", "a row of attributes"}},
}

// ownRows are the rows of one table of own data, by file: user first.
type ownRows map[string][]string

// smallOwn makes data of 40 users that every task here can take.
func smallOwn() ownRows {
	const users, items = 40, 90
	s := rng.Seed(7).Stream("own data of neighbours")
	rows := ownRows{}
	line := func(name, format string, args ...any) { rows[name] = append(rows[name], fmt.Sprintf(format, args...)) }
	jobs := []string{"artist", "doctor", "student"}
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
	return rows
}

var ownHeads = map[string]string{
	"own-shop/own-shop.csv": "user_id,item_id,rating,timestamp", "own-shop/own-shop.user": "user_id:token\tgender:token\tage:float\toccupation:token",
	"own-pair/target.csv": "user_id,item_id,timestamp", "own-pair/source.csv": "user_id,item_id,timestamp", "own-feed/impressions.csv": "user,item,shown,clicked",
}

// put writes data into a folder.
func (r ownRows) put(t *testing.T, dir string) {
	t.Helper()
	for name, lines := range r {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(ownHeads[name]+"\n"+strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// without returns the data without the rows that drop takes.
func (r ownRows) without(drop func(name string, n int, line string) bool) ownRows {
	out := ownRows{}
	for name, lines := range r {
		for n, l := range lines {
			if !drop(name, n, l) {
				out[name] = append(out[name], l)
			}
		}
	}
	return out
}

// drawnNoise runs a task on data and returns its streams by paper and purpose.
func drawnNoise(t *testing.T, task run.Task, config string, sets []string) map[string]rng.Stream {
	t.Helper()
	streams := map[string]rng.Stream{}
	dir := filepath.Join(t.TempDir(), "run")
	_, err := task.Start(t.Context(), run.Options{
		NoiseSeed: 1, Config: config, Sets: append(slices.Clone(sets), "run.out="+dir), Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{},
		OnNoise: func(paper, purpose string, s rng.Stream) { streams[paper+": "+purpose] = s },
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := privacy.Reading{}.File(filepath.Join(dir, run.LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Entries()) == 0 || len(streams) == 0 {
		t.Fatalf("%d releases and %d streams of noise: the setting has no noise", len(l.Entries()), len(streams))
	}
	return streams
}

// Two data sets that differ by one user, or by one row of a user, get noise that shares no value, in every
// task that has noise: only the rows differ, and the seed of the noise is the same.
func TestNoiseOfNeighbours(t *testing.T) {
	all := smallOwn()
	user := all.without(func(_ string, _ int, l string) bool {
		return strings.HasPrefix(l, "u17,") || strings.HasPrefix(l, "u17\t")
	})
	edge := all.without(func(name string, n int, _ string) bool { return n == 500 && !strings.HasSuffix(name, ".user") })
	folders := map[string]string{}
	for name, rows := range map[string]ownRows{"all": all, "a user less": user, "an edge less": edge} {
		folders[name] = t.TempDir()
		rows.put(t, folders[name])
	}
	for _, task := range All() {
		of, ok := noisyOnOwn[task.String()]
		if task.Noisy != ok {
			t.Errorf("%s: draws noise %v, and is in the list of those %v", task, task.Noisy, ok)
		}
		for _, name := range of.settings {
			at := slices.IndexFunc(settingsOf(task), func(s stopped) bool { return s.name == name })
			if at < 0 {
				t.Fatalf("%s has no setting %q", task, name)
			}
			s := settingsOf(task)[at]
			t.Run(task.String()+", "+name, func(t *testing.T) { unlike(t, task, s, of.data, folders) })
		}
	}
}

// ofOtherData are keys of stops that belong to the data there, and their values for own data.
var ofOtherData = regexp.MustCompile(`^(data\.(name|recipe|target|auxiliary)|auxiliary\.items)=`)

func unlike(t *testing.T, task run.Task, s stopped, data string, folders map[string]string) {
	sets := slices.DeleteFunc(slices.Clone(s.sets), func(set string) bool { return ofOtherData.MatchString(set) })
	sets = append(sets, "data.name="+data)
	if task.Verb == "audit" { // it chooses no recipe
		sets = append(sets, "data.recipe=ratio")
	}
	config := s.config
	if config != "" {
		config = filepath.Join(configs, config)
	}
	drawn := map[string]map[string]rng.Stream{}
	for name, folder := range folders {
		t.Setenv("PRIVREC_DATA", folder)
		t.Setenv("PRIVREC_CACHE", t.TempDir())
		drawn[name] = drawnNoise(t, task, config, sets)
	}
	again := drawn["all"]
	t.Setenv("PRIVREC_DATA", folders["all"])
	if got := drawnNoise(t, task, config, sets); !maps.Equal(got, again) {
		t.Errorf("the same rows and seed have other noise: %v, then %v", again, got)
	}
	const words = 512
	seen := map[uint64]string{}
	for name, streams := range drawn {
		for purpose, s := range streams {
			for range words {
				w := s.Uint64()
				if was, ok := seen[w]; ok && was != name {
					t.Fatalf("%s: %s and %s share a value", purpose, name, was)
				}
				seen[w] = name
			}
		}
	}
	// A child of one stream is none of another: identities differ.
	for purpose, s := range drawn["all"] {
		for _, other := range []string{"a user less", "an edge less"} {
			if o, ok := drawn[other][purpose]; ok && o.State().ID == s.State().ID {
				t.Errorf("%s: %s has the stream of all rows", purpose, other)
			}
		}
	}
}

// publicDraws are the streams of run.seed in the packages of private methods: what is drawn from them needs
// no secret, or is no release. Noise is of Env.Noise.
var publicDraws = []string{
	"bench.sessions",                               // what is measured
	"blurme.class", "blurme.folds", "blurme.items", // a method without an epsilon
	"audit of secure noise",                          // of a random key, a billionth of the noise of a release
	"canary coins", "canary features", "canary rows", // what an audit puts in
	"dpae.init", "dpfactor.users", "dpmf.negatives", "dpmf.order", // initial values and orders
	"dpsgd.codes", "private.als.first", "rap.reading", // the same
	"exposure.batches", "exposure.sample", // the attacker's
	"forgetting ", "forgetting compared", "forgetting halves", "forgetting reference", "forgetting resamples",
	"forgetting shard", "forgetting shards", "forgetting users", // who is forgotten, and models without noise
	"forecast.order", "link ", "link change", "link resamples", "link users", "link watched",
	"inference.attack.", "inference.split.", "membership floor", "membership folds", "membership items", "membership resamples",
	"membership shadow", "membership users", "nextitem.sample", "dipsgnn.validation", "slates.sample", "topn.candidates",
	"synthetic.user", "synthetic users", // users of what is released already, and whom an attack asks about
	"bench.stream", "private.stream.arrivals", // what is measured, and the days of a simulated stream
	"private.stream.contributions",                                                                             // which of their rows users contribute, each by the user's id
	"private.stream",                                                                                           // noise of a stream that is kept, of its own key and of all that it holds
	"private.contributions.",                                                                                   // which of their rows users contribute, each by the user's id
	"pricdsr.permute",                                                                                          // rows of other users, without an epsilon
	"perturb features %s %d %v", "perturb pricdsr ", "perturb exposure ", "perturb exposure, the ledger alone", // files, keyed by record
}

var namesStream = regexp.MustCompile(`\.Stream\((?:fmt\.Sprintf\()?"([^"]*)"`)

// No noise of a private method is drawn from run.seed, and only tests look at the streams of noise.
func TestNoNoiseOfTheSeed(t *testing.T) {
	for _, root := range []string{"../private", "../papers", "../protocol", "../cli", "../reproduce", "../tune", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if strings.Contains(string(b), "OnNoise") {
				t.Errorf("%s looks at streams of noise", path)
			}
			if strings.Contains(path, "/tune/") || strings.Contains(path, "/reproduce/") || strings.Contains(path, "/cli/") {
				return nil
			}
			for _, m := range namesStream.FindAllStringSubmatch(string(b), -1) {
				if !slices.Contains(publicDraws, m[1]) {
					t.Errorf("%s draws from the stream %q of run.seed: noise is of Env.Noise; where the draw needs no secret, say so in the list", path, m[1])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
