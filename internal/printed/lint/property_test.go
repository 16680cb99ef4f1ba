package lint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/printed"
)

// world is a data set and methods whose lists are drawn user by user, so that the tables about
// them are consistent by construction.
type world struct {
	cuts  []int
	items int                // relevant ones of a user
	users int                // who are tested in each run
	hits  map[string][][]int // ranks of the relevant items that a method's list holds, by run and user
}

// runs is the number of runs that each printed number is the mean of.
const runs = 7

func drawWorld(t *rapid.T) world {
	w := world{items: rapid.IntRange(1, 4).Draw(t, "relevant items"), hits: map[string][][]int{}}
	for k := 0; len(w.cuts) < rapid.IntRange(1, 4).Draw(t, "cut-offs"); {
		k += rapid.IntRange(1, 15).Draw(t, "step")
		w.cuts = append(w.cuts, k)
	}
	w.users = rapid.IntRange(20, 200).Draw(t, "users")
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	for _, m := range []string{"A", "B"} {
		catalogue := rapid.IntRange(w.items, 200).Draw(t, "catalogue of "+m)
		for range w.users * runs {
			ranks := random.Perm(catalogue)[:w.items]
			for i := range ranks {
				ranks[i]++
			}
			slices.Sort(ranks)
			w.hits[m] = append(w.hits[m], ranks)
		}
	}
	return w
}

// mean computes a metric of a method at a cut-off by its definition.
func (w world) mean(family, method string, k int) float64 {
	sum := 0.0
	for _, ranks := range w.hits[method] {
		ideal, dcg, found := 0.0, 0.0, 0
		for i, r := range ranks {
			if i < k {
				ideal += 1 / math.Log2(float64(i+2))
			}
			if r <= k {
				found++
				dcg += 1 / math.Log2(float64(r+1))
			}
		}
		precision, recall := float64(found)/float64(k), float64(found)/float64(w.items)
		switch {
		case found == 0:
		case family == "HR":
			sum++
		case family == "Recall":
			sum += recall
		case family == "Precision":
			sum += precision
		case family == "MRR":
			sum += 1 / float64(ranks[0])
		case family == "NDCG":
			sum += dcg / ideal
		case family == "F1":
			sum += 2 * precision * recall / (precision + recall)
		}
	}
	return sum / float64(len(w.hits[method]))
}

// table prints the world: results as shares, the same again in percent, improvements computed
// before rounding, the data, and a sentence with the mean gain.
func (w world) table(t *rapid.T) string {
	families := []string{"HR", "Recall", "Precision", "MRR", "NDCG", "F1"}
	n := rapid.IntRange(2, 5).Draw(t, "digits")
	number := func(x float64, digits int) string { return digitsOf(x, digits) }
	var b strings.Builder
	fmt.Fprintf(&b, "paper: p\ncite: c\nyear: 2024\nseeds: %d\nmetrics:\n", runs)
	var names, percents []string
	for _, k := range w.cuts {
		for _, f := range families {
			name := fmt.Sprintf("%s@%d", f, k)
			names, percents = append(names, name), append(percents, name+" %")
			fmt.Fprintf(&b, "  %s: {is: %s, unit: share}\n  %s %%: {is: %s, unit: percent}\n", name, name, name, name)
		}
	}
	for _, s := range []string{"users", "items", "interactions"} {
		fmt.Fprintf(&b, "  %s: {is: %s, unit: count}\n", s, s)
	}
	b.WriteString("  mean length: {is: mean length, unit: number}\n  density: {is: density, unit: share}\nblocks:\n")
	relevant := "many"
	if w.items == 1 {
		relevant = "one"
	}
	row := func(m string, scale float64, digits int) string {
		var out []string
		for _, k := range w.cuts {
			for _, f := range families {
				out = append(out, number(scale*w.mean(f, m, k), digits))
			}
		}
		return strings.Join(out, ", ")
	}
	rows := func(scale float64, digits int) string {
		return fmt.Sprintf("[{method: A, setting: {L: 1}, values: [%s]}, {method: B, setting: {L: 1}, values: [%s]}]", row("A", scale, digits), row("B", scale, digits))
	}
	var gains []string
	mean, count := 0.0, 0
	for _, k := range w.cuts {
		for _, f := range families {
			a, b := w.mean(f, "A", k), w.mean(f, "B", k)
			if a == 0 || b == 0 {
				gains = append(gains, "\"-\"")
				continue
			}
			mean, count = mean+(a/b-1)*100, count+1
			gains = append(gains, number((a/b-1)*100, 2))
		}
	}
	fmt.Fprintf(&b, "  - {table: 1, where: w, kind: results, data: D, relevant: %s, tested: {D: %d}, columns: [%s], "+
		"rows: %s, test: {name: sign test, p_below: 0.02}, "+
		"improvements: [{method: A, over: B, setting: {L: 1}, values: [%s]}]}\n",
		relevant, w.users, strings.Join(names, ", "), rows(1, n), strings.Join(gains, ", "))
	fmt.Fprintf(&b, "  - {table: 2, where: w, kind: results, data: D, relevant: %s, tested: {D: %d}, "+
		"columns: [\"%s\"], rows: %s}\n",
		relevant, w.users, strings.Join(percents, `", "`),
		rows(100, rapid.IntRange(0, 3).Draw(t, "digits of percentages")))
	users, items := rapid.IntRange(1, 200_000).Draw(t, "data users"), rapid.IntRange(1, 200_000).Draw(t, "data items")
	interactions := rapid.IntRange(1, 5_000_000).Draw(t, "interactions")
	interactions = min(interactions, users*items)
	fmt.Fprintf(&b, "  - {table: 3, where: w, kind: data, columns: [users, items, interactions, mean length, density], rows: [{data: D, values: [%d, %d, %d, %s, %s]}]}\n",
		users, items, interactions, number(float64(interactions)/float64(users), 2), number(float64(interactions)/float64(users)/float64(items), 5))
	fmt.Fprintf(&b, "sentences:\n  - {where: s, about: users, value: %d, unit: count, same: {table: 3, metric: users, data: D}}\n", users)
	if count > 0 && count == len(gains) {
		fmt.Fprintf(&b, "  - {where: s, about: mean gain, value: %s, unit: percent, gain: {table: 1, method: A, over: B}}\n", number(mean/float64(count), 1))
	}
	return b.String()
}

// digitsOf prints a number with so many digits, and zero without a sign.
func digitsOf(x float64, n int) string {
	text := digits(x, n)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// TestConsistentTablesRaiseNothing draws lists, measures them and prints the tables: no rule may
// find anything in what is true, with any number of digits. Equal rows are left out, since two
// methods may be equal in truth.
func TestConsistentTablesRaiseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawWorld(t).table(t)
		f, err := printed.Parse("p.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, x := range Check([]*printed.File{f}, nil).Findings {
			if x.Rule != "repeated" {
				t.Errorf("%+v\n%s", x, text)
			}
		}
	})
}

// TestOneWrongDigitIsFound changes a number of a conflict-free pair of tables by one unit in
// its last digit, and wants it named.
func TestOneWrongDigitIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.IntRange(1000, 8000).Draw(t, "number")
		wrong := x + rapid.SampledFrom([]int{-1, 1}).Draw(t, "by")
		text := results("R", fmt.Sprintf("rows: [{method: A, values: [0.%04d]}]", x)) +
			fmt.Sprintf("  - {table: 2, where: w, kind: results, data: D, columns: [R], rows: [{method: A, values: [0.%04d]}]}\n", wrong)
		f, err := printed.Parse("p.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		found := Check([]*printed.File{f}, nil).Findings
		if len(found) != 1 || found[0].Rule != "conflict" {
			t.Errorf("0.%04d against %d: %+v", x, wrong, found)
		}
	})
}
