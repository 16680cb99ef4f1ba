package imported_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/compare"
)

// planted writes the files of a model that gives everything away. There are 25 sorts of 10 items, and users of one sort
// each, with 8 of its items, in random order. Rows are members or not, by a fair coin each (rows) or a coin a user
// (users). A member's list has the items of the sort that were not trained on, a stranger's those of a random sort; then
// four items of the user's gender. With shuffled, lists are given to other users at random.
func planted(t *testing.T, users int, strangers, rows, shuffled bool) (e exported, attributes string) {
	t.Helper()
	r := rand.New(rand.NewPCG(11, 12))
	lists := make([][]string, users)
	var train, others, table strings.Builder
	train.WriteString("user_id\titem_id\n")
	others.WriteString("user_id\titem_id\n")
	table.WriteString("user_id\tgender\n")
	for u := range users {
		sort, gender := r.IntN(25), "FM"[r.IntN(2)]
		fmt.Fprintf(&table, "u%d\t%c\n", u, gender)
		stranger := strangers && r.IntN(2) == 0
		shown := sort
		if stranger {
			shown = r.IntN(25)
		}
		var had []int
		for k, i := range r.Perm(10)[:8] {
			switch {
			case stranger, rows && k > 0 && r.IntN(2) == 0:
				fmt.Fprintf(&others, "u%d\ti%d\n", u, 10*sort+i)
			default:
				fmt.Fprintf(&train, "u%d\ti%d\n", u, 10*sort+i)
				had = append(had, i)
			}
		}
		for _, i := range r.Perm(10) {
			if !slices.Contains(had, i) {
				lists[u] = append(lists[u], fmt.Sprintf("i%d", 10*shown+i))
			}
		}
		for _, i := range r.Perm(20)[:4] {
			lists[u] = append(lists[u], fmt.Sprintf("%c%d", gender, i))
		}
	}
	to := make([]int, users)
	for u := range to {
		to[u] = u
	}
	if shuffled {
		to = r.Perm(users)
	}
	var recs strings.Builder
	recs.WriteString("user_id\titem_id\trank\n")
	for u := range users {
		for k, i := range lists[to[u]] {
			fmt.Fprintf(&recs, "u%d\t%s\t%d\n", u, i, k+1)
		}
	}
	e = exported{recs: written(t, "lists.tsv", recs.String()), train: written(t, "train.tsv", train.String())}
	if strangers || rows {
		e.nonMembers = written(t, "others.tsv", others.String())
	}
	return e, written(t, "attributes.tsv", table.String())
}

// value returns a metric of the attack of a name, whose name ends so.
func (f found) value(t testing.TB, suffix, metric string) float64 {
	t.Helper()
	for _, e := range f.Evaluations {
		if strings.HasSuffix(e.Name, suffix) {
			if v, ok := e.Values[metric]; ok {
				return v
			}
			t.Fatalf("%s has no %s, but %v", e.Name, metric, e.Values)
		}
	}
	t.Fatalf("no attack %s in %+v", suffix, f.Evaluations)
	return 0
}

// rankSum is how far the area under the curve of n positives and m negatives, whose scores say nothing, is from 1/2 at
// most, with a false alarm in 1e9: 6.11 deviations of the rank sum of Mann and Whitney, normal at these numbers.
func rankSum(n, m int) float64 {
	return 6.11 * math.Sqrt(float64(n+m+1)/(12*float64(n)*float64(m)))
}

// Lists of other users are at the floor in every attack; the same lists, given to the users whom they are of, give
// nearly everything away. A false alarm is one in 1e9.
func TestShuffledListsAreAtTheFloor(t *testing.T) {
	const users = 2000
	small := []string{"run.workers=1", "eval.resamples=100"}
	run := func(t *testing.T, task string, e exported, sets ...string) (string, found) {
		dir, _ := must(t, task, slices.Concat(small[:1], sets, []string{"files.recs=" + e.recs, "files.train=" + e.train})...)
		return dir, result(t, dir)
	}
	t.Run("attribute", func(t *testing.T) {
		t.Parallel()
		for _, shuffled := range []bool{false, true} {
			e, table := planted(t, users, false, false, shuffled)
			_, f := run(t, "attack attribute", e, "files.attributes="+table, "attributes=[{name: gender}]", "attack.sees=[lists]", "attack.k=[6]", "attack.attackers=[logistic-regression]", "attack.repeats=2")
			// Each of the splits tests a fifth of the users, near half of them of each gender; a mean of two areas is
			// no further off than one.
			auc, far := f.value(t, "logistic-regression", "AUC gender"), rankSum(users/10-30, users/10-30)
			if shuffled && math.Abs(auc-0.5) > far || !shuffled && auc < 0.95 {
				t.Errorf("shuffled %v: area %v, the floor is 0.5 and %v beside it", shuffled, auc, far)
			}
		}
	})
	t.Run("membership of users", func(t *testing.T) {
		t.Parallel()
		for _, shuffled := range []bool{false, true} {
			e, _ := planted(t, users, true, false, shuffled)
			_, f := run(t, "attack membership", e, "profile=own", "attack.level=user", "attack.k=2", "files.non_members="+e.nonMembers, small[1])
			auc, far := f.value(t, "likeness of history and list", "AUC member users"), rankSum(users/2-150, users/2-150)
			if shuffled && math.Abs(auc-0.5) > far || !shuffled && auc < 0.9 {
				t.Errorf("shuffled %v: area %v, the floor is 0.5 and %v beside it", shuffled, auc, far)
			}
		}
	})
	t.Run("membership of interactions", func(t *testing.T) {
		t.Parallel()
		for _, shuffled := range []bool{false, true} {
			e, _ := planted(t, users, false, true, shuffled)
			_, f := run(t, "attack membership", e, "profile=own", "attack.k=6", "files.non_members="+e.nonMembers, small[1])
			// An item that is held out is in one list more, which the attack takes for a sign of a member: what all lists
			// together say can only lower the area.
			auc, far := f.value(t, "missing in the list", "AUC member interactions"), rankSum(4*users, 3*users)
			if shuffled && auc > 0.5+far || !shuffled && auc < 0.9 {
				t.Errorf("shuffled %v: area %v, the floor is 0.5 and %v above it", shuffled, auc, far)
			}
		}
	})
	t.Run("exposure", func(t *testing.T) {
		t.Parallel()
		for _, shuffled := range []bool{false, true} {
			e, _ := planted(t, users, false, false, shuffled)
			dir, f := run(t, "attack exposure", e, "data.slate=6", "data.behaviour=3", "attack.dim=16", "attack.ffn=16", "train.epochs=12", "eval.k=[8]", small[1])
			recall := 0.0
			for _, x := range f.Evaluations {
				recall = max(recall, x.Values["Recall@8"])
			}
			// Of a random pairing of n slates and behaviours the sum of recalls, each in [0,1], is X with mean at most n times
			// what the best eight items for everyone find. X is above it by t with probability exp(-t^2/(4 mean + 2t)) at most
			// (Chatterjee, Probability Theory and Related Fields 138, 2007, proposition 1.1).
			n, best := oracle(t, dir, e, 3, 8)
			mean := n * best
			far := (21 + math.Sqrt(21*21+4*21*mean)) / n
			if shuffled && recall > best+far || !shuffled && recall < best+far {
				t.Errorf("shuffled %v: recall %v, what is best for everyone is %v, and %v above it", shuffled, recall, best, far)
			}
		}
	})
}

// oracle returns how many users an attack on exposure was measured on, and the recall of the k items that their last
// items hold most often.
func oracle(t *testing.T, dir string, e exported, last, k int) (n, best float64) {
	t.Helper()
	tables, err := compare.ReadAll(dir)
	if err != nil || len(tables) == 0 {
		t.Fatalf("no scores in %s: %v", filepath.Base(dir), err)
	}
	had := map[string][]string{}
	for _, line := range strings.Split(text(t, e.train), "\n")[1:] {
		if user, item, ok := strings.Cut(line, "\t"); ok {
			had[user] = append(had[user], item)
		}
	}
	count := map[string]int{}
	for _, u := range tables[0].Users {
		for _, i := range had[u][len(had[u])-last:] {
			count[i]++
		}
	}
	var all []int
	for _, c := range count {
		all = append(all, c)
	}
	slices.Sort(all)
	slices.Reverse(all)
	sum := 0
	for _, c := range all[:k] {
		sum += c
	}
	n = float64(len(tables[0].Users))
	return n, float64(sum) / float64(last) / n
}
