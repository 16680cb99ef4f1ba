package exposure

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/slate"
	"privrec/internal/model/sasrec"
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
		named := byID[fmt.Sprint(token)]
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
		{dir, &slate.Set{Name: "none", Vocab: 9}, "knows no histories"},
	} {
		if _, err := ItemVectors(t.Context(), c.dir, c.set); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Histories become rows in the order of time, by token, without users who have none and
// without tokens that are no items.
func TestSASRecHistories(t *testing.T) {
	set := &slate.Set{
		Name: "hand", Hash: "00", Vocab: 9, Level: dataset.LevelC, Users: []string{"10", "9", "11", "2"},
		Histories: [][]int32{{8, 4, slate.OOV, 5, 4, 8}, nil, {slate.OOV}, {5, 8}},
	}
	s, err := sasrecHistories(set)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.UserIDs, s.ItemIDs, s.Train, s.Valid, s.Test, s.Source.Level); got != "[2 10] [ 5 8 4] [[1 2] [2 3 1]] [[] [3]] [[] [2]] C" {
		t.Error(got)
	}
	was := s.Source.Hash
	for name, change := range map[string]func(){
		"order":      func() { set.Histories[3] = []int32{8, 5} },
		"vocabulary": func() { set.Vocab = 10 },
		"files":      func() { set.Hash = "01" },
	} {
		change()
		s, err := sasrecHistories(set)
		if err != nil || s.Source.Hash == was {
			t.Errorf("another %s has the same hash (%v)", name, err)
		}
		was = s.Source.Hash
	}
}
