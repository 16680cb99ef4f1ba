//go:build slow && !f64

package imported_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// shuffle gives the lists of a file to other users at random.
func shuffle(t testing.TB, e exported, seed uint64) exported {
	t.Helper()
	lists := map[string][]string{}
	var users []string
	lines := strings.Split(strings.TrimSpace(text(t, e.recs)), "\n")
	for _, line := range lines[1:] {
		user, rest, _ := strings.Cut(line, "\t")
		if lists[user] == nil {
			users = append(users, user)
		}
		lists[user] = append(lists[user], rest)
	}
	var b strings.Builder
	fmt.Fprintln(&b, lines[0])
	for k, other := range rand.New(rand.NewPCG(seed, 1)).Perm(len(users)) {
		for _, rest := range lists[users[other]] {
			fmt.Fprintf(&b, "%s\t%s\n", users[k], rest)
		}
	}
	e.recs = written(t, "shuffled.tsv", b.String())
	return e
}

// EASE on ML-100K: attacks on its lists find what they find on the run, and those with a bound find on shuffled lists
// nothing beyond the floor. A false alarm of the shuffled ones is one in 1e9.
func TestRealLists(t *testing.T) {
	if os.Getenv("PRIVREC_DATA") == "" {
		t.Skip("no $PRIVREC_DATA with ml-100k")
	}
	attributes := attributesOf(t, "ml-100k")
	for _, x := range []struct {
		attack
		row, metric string
		far         float64 // from 1/2, on shuffled lists; 0: no bound, and they are not attacked
	}{
		{attack{"attack exposure", "on.run", nil, []string{"data.slate=20", "data.behaviour=5",
			"attack.encoder=mean", "attack.decoder=point", "attack.dim=32", "train.epochs=3", "eval.k=[10]",
			"eval.budget=[k]"}}, "", "Recall@10", 0},
		{attack{"attack attribute", "on.runs", nil, []string{"profile=own", "files.attributes=" + attributes, "attributes=[{name: gender}]", "attack.k=[20]", "attack.sees=[lists]", "attack.attackers=[logistic-regression]", "attack.repeats=20"}}, "logistic-regression", "AUC gender", rankSum(55, 134)},
		{attack{"attack membership", "on.run", []string{"run.hold_out.users=0.3"}, []string{"attack.level=user", "attack.sees=[lists]"}}, "likeness of history and list", "AUC member users", rankSum(660, 283)},
		{attack{"attack membership", "on.run", []string{"run.hold_out.rows=0.5"}, []string{"attack.sees=[lists]", "eval.resamples=200"}}, "missing in the list", "AUC member interactions", 0},
	} {
		t.Run(x.name+strings.Join(x.run, " "), func(t *testing.T) {
			files, of := equal(t, x.attack, "data.name=ml-100k", "data.recipe=gerai")
			show := func(what string, f found) {
				for _, e := range slices.Concat(f.Floors, f.Evaluations) {
					t.Logf("%s, %s: %.4f %.4f", what, e.Name, e.Values[x.metric], e.Intervals[x.metric])
				}
				for _, p := range f.Protocols {
					for _, e := range p.Floors {
						t.Logf("%s, floor %s: %.4f", what, e.Name, e.Values[x.metric])
					}
					f.Gains = append(f.Gains, p.Gains...)
					for _, c := range p.Counts {
						f.Gains = append(f.Gains, c.Gains...)
					}
				}
				for _, g := range f.Gains {
					if g.Metric == x.metric || g.Metric == "AUC" {
						t.Logf("%s, %s beyond %s: %+.4f %.4f", what, g.Row, g.Over, g.Value, g.Interval)
					}
				}
			}
			show("own", of)
			if x.far == 0 {
				return
			}
			dir, _ := must(t, x.name, x.attack.of(shuffle(t, files, 7))...)
			f := result(t, dir)
			show("shuffled", f)
			if auc := f.value(t, x.row, x.metric); auc < 0.5-x.far || auc > 0.5+x.far {
				t.Errorf("shuffled lists: area %v, the floor is 0.5 and %v beside it", auc, x.far)
			}
		})
	}
}
