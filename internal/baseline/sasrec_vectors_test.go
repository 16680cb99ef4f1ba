package exposure

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/slate"
	"privrec/internal/model/sasrec"
	"privrec/internal/perturb"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// sasrecSets are the settings of a run on the stand-in's histories.
var sasrecSets = []string{"data.name=" + slate.StandIn, "data.recipe=" + HistoriesRecipe, "model.length=50", "train.epochs=2", "train.patience=0", "eval.k=[5]"}

func sasrecSlates(t testing.TB, seed uint64) *slate.Set {
	t.Helper()
	set, err := slate.Load(t.Context(), slate.StandIn, slate.Options{Seed: 1})
	if seed != 1 {
		set, err = slate.Load(t.Context(), slate.StandIn, slate.Options{Seed: 2})
	}
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Vectors of a run are those trained in place, and belong to items of histories alone.
func TestItemVectors(t *testing.T) {
	set := sasrecSlates(t, 1)
	dir, _ := sasrecRun(t, sasrecSets...)
	got, err := ItemVectors(t.Context(), dir, set)
	if err != nil {
		t.Fatal(err)
	}
	o := VectorOptions{Model: sasrec.Config{Dim: 8, Blocks: 2, Heads: 2, Length: 50, Dropout: 0.2, Norm: sasrec.NormCode}, Seed: 1}
	o.Train = SASRecTrain{Loss: LossAll, Epochs: 2, Batch: 32, Rate: 0.01, Beta2: 0.98}
	placed, err := TrainItemVectors(t.Context(), set, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != set.Vocab || len(placed) != set.Vocab {
		t.Fatalf("%d and %d tokens, want %d", len(got), len(placed), set.Vocab)
	}
	// Of a history of three or more the last two are held out.
	learned := make([]bool, set.Vocab)
	for _, clicks := range set.Histories {
		clicks = slices.DeleteFunc(slices.Clone(clicks), func(token int32) bool { return token < slate.FirstItem })
		if len(clicks) >= 3 {
			clicks = clicks[:len(clicks)-2]
		}
		for _, token := range clicks {
			learned[token] = true
		}
	}
	byID, err := ItemVectorsByID(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for token := range set.Vocab {
		v := got[token]
		if (v != nil) != learned[token] {
			t.Errorf("token %d: a vector of %d numbers, learned is %v", token, len(v), learned[token])
		}
		if !slices.Equal(v, placed[token]) {
			t.Errorf("token %d: %v from the run, %v trained in place", token, v, placed[token])
		}
		if v == nil {
			continue
		}
		n++
		if len(v) != 8 || tensor.SumSq(v) == 0 {
			t.Errorf("token %d: %v", token, v)
		}
		named := byID[set.Items[token]]
		for j, x := range named {
			if x != float32(v[j]) {
				t.Errorf("token %d: %v by its id, %v by itself", token, named, v)
				break
			}
		}
	}
	if n == 0 || len(byID) != n {
		t.Errorf("%d vectors by token, %d by id", n, len(byID))
	}
}

// An item keeps its name in the data files on every way from a run of histories to
// whoever names items: a catalogue of slates, recommendations, an attack on the run.
// Names are numbers here, others than the tokens.
func TestHistoriesKeepNames(t *testing.T) {
	t.Setenv("PRIVREC_DATA", numberedSlates(t))
	dir, _ := sasrecRun(t, append(slices.Clone(sasrecSets), "data.name=own-numbered", "data.slate=4", "data.behaviour=2", "train.epochs=1")...)
	set, err := slate.Load(t.Context(), "own-numbered", slate.Options{Seed: 1, T: 4, L: 2})
	if err != nil {
		t.Fatal(err)
	}
	byToken, err := ItemVectors(t.Context(), dir, set)
	if err != nil {
		t.Fatal(err)
	}
	names := set.Items[slate.FirstItem:]
	c := perturb.NewCatalogue()
	for _, name := range names {
		c.Add(name)
	}
	near, err := openNeighbours(t.Context(), &PerturbOptions{Vectors: dir}, c)
	if err != nil {
		t.Fatal(err)
	}
	if near.WithVector == 0 || near.Foreign != 0 {
		t.Errorf("%d vectors in the catalogue, %d of no item of it", near.WithVector, near.Foreign)
	}
	for i, name := range names {
		var want []tensor.Float
		for _, x := range byToken[int(slate.FirstItem)+i] {
			want = append(want, tensor.Float(float32(x))) // vectors of items by name are single, whatever the attack's are
		}
		if !slices.Equal(near.vectors[i], want) {
			t.Errorf("item %s: %v for slates, %v for the attack", name, near.vectors[i], want)
		}
	}
	s, err := run.Serve(t.Context(), []run.Task{sasrecTask()}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, _, err := s.(run.Historian).Histories(t.Context())
	if err != nil || len(all) == 0 {
		t.Fatalf("%d histories, %v", len(all), err)
	}
	answer, err := s.Recommend(t.Context(), run.Recommend{Users: []string{all[0].User}, K: 3})
	if err != nil {
		t.Fatal(err)
	}
	said := slices.Clone(all[0].Items)
	for _, row := range answer.(*report.Document).Tables[0].Rows {
		said = append(said, row[2].(string))
	}
	for _, name := range said {
		if !slices.Contains(names, name) {
			t.Errorf("%q is no item of the data", name)
		}
	}
}

// numberedSlates is a folder of data with one set of slates, whose items are numbers that
// are far from any token.
func numberedSlates(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("user\titem\tshown_at\tclicked_at\n")
	for u := range 30 {
		for i := range 24 {
			clicked := 0
			if i%3 == 0 {
				clicked = 100 + i
			}
			fmt.Fprintf(&b, "u%d\t%d\t%d\t%d\n", u, 1000+7*((u*5+i*i)%40), 100+i, clicked)
		}
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "own-numbered"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "own-numbered", "impressions.tsv"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

// A run of an older program listed tokens where names belong. Whoever goes by names is told
// to train again; the attack goes by the rows of the table, which the histories fix. A run
// on other data always had names.
func TestVectorsOfAnOlderProgram(t *testing.T) {
	set := sasrecSlates(t, 1)
	dir, _ := sasrecRun(t, append(slices.Clone(sasrecSets), "train.epochs=1")...)
	want, err := ItemVectors(t.Context(), dir, set)
	if err != nil {
		t.Fatal(err)
	}
	unmark(t, dir)
	_, err = ItemVectorsByID(t.Context(), dir)
	var usage *run.UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "an older program") || !strings.Contains(usage.Hint(), "again") {
		t.Errorf("%v, want one that says to train again", err)
	}
	got, err := ItemVectors(t.Context(), dir, set)
	if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]tensor.Float]) {
		t.Errorf("the attack has other vectors (%v)", err)
	}
	other, _ := sasrecRun(t, "train.epochs=1")
	unmark(t, other)
	if byID, err := ItemVectorsByID(t.Context(), other); err != nil || len(byID) == 0 {
		t.Errorf("%d vectors, %v", len(byID), err)
	}
}

// unmark takes from a run what says that its items have names.
func unmark(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, sasrecFile)
	tensors, meta, err := run.ReadSafetensors(path)
	if err != nil {
		t.Fatal(err)
	}
	delete(meta, sasrecIDsKey)
	err = run.WriteFile(path, func(w io.Writer) error { return run.WriteSafetensors(w, tensors, meta) })
	if err != nil {
		t.Fatal(err)
	}
}

// Vectors that saw other users, that are not finished, or are none, are refused.
func TestItemVectorsRefuses(t *testing.T) {
	dir, _ := sasrecRun(t, sasrecSets...)
	other, _ := sasrecRun(t)
	begun := filepath.Join(t.TempDir(), "run")
	// Past training, so that something is kept.
	whole := newSASRecFuse(t, 0)
	if _, err := startSASRec(whole, filepath.Join(t.TempDir(), "run"), run.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := startSASRec(newSASRecFuse(t, whole.looks), begun, run.Options{}); !run.WasInterrupted(err) {
		t.Fatal(err)
	}
	set := sasrecSlates(t, 1)
	for _, c := range []struct {
		dir  string
		set  *slate.Set
		want string
	}{
		{dir, sasrecSlates(t, 2), "was trained on other histories"},
		{other, set, "was trained on other histories"},
		{begun, set, "is not finished: interrupted"},
		{t.TempDir(), set, "there is no run in"},
		{sasrecSmoke, set, "there is no run in"},
		{dir, &slate.Set{Name: "none", Vocab: 9}, "knows no histories"},
	} {
		if _, err := ItemVectors(t.Context(), c.dir, c.set); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Histories become rows in the order of time, by the names of items, without users who
// have none and without tokens that are no items.
func TestSASRecHistories(t *testing.T) {
	set := &slate.Set{
		Name: "hand", Hash: "00", Vocab: 9, Level: dataset.LevelC, Users: []string{"10", "9", "11", "2"},
		Items:     []string{"[PAD]", "[OOV]", "[SOS]", "[EOS]", "d", "5", "x", "y", "a"},
		Histories: [][]int32{{8, 4, slate.OOV, 5, 4, 8}, nil, {slate.OOV}, {5, 8}},
	}
	s, err := sasrecHistories(set)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.UserIDs, s.ItemIDs, s.Train, s.Valid, s.Test, s.Source.Level); got != "[2 10] [ 5 a d] [[1 2] [2 3 1]] [[] [3]] [[] [2]] C" {
		t.Error(got)
	}
	was := s.Source.Hash
	for name, change := range map[string]func(){
		"order":      func() { set.Histories[3] = []int32{8, 5} },
		"vocabulary": func() { set.Vocab, set.Items = 10, append(set.Items, "z") },
		"files":      func() { set.Hash = "01" },
	} {
		change()
		s, err := sasrecHistories(set)
		if err != nil || s.Source.Hash == was {
			t.Errorf("another %s has the same hash (%v)", name, err)
		}
		was = s.Source.Hash
	}
	set.Items[4] = "5"
	if _, err := sasrecHistories(set); err == nil || !strings.Contains(err.Error(), `4 and 5 are both "5"`) {
		t.Errorf("two tokens of one name: %v", err)
	}
}
