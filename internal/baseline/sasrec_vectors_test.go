package baseline

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/model/sasrec"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/system"
	"privrec/internal/tensor"
)

// sasrecSets are the settings of a run on the stand-in's histories.
var sasrecSets = []string{"data.name=" + slate.StandIn, "data.recipe=" + slate.HistoriesRecipe, "model.length=50", "train.epochs=2", "train.patience=0", "eval.k=[5]"}

func sasrecSlates(t testing.TB, seed uint64) *slate.Set {
	t.Helper()
	set, err := slate.Load(t.Context(), slate.StandIn, dataset.View{Seed: 1}, slate.Options{})
	if seed != 1 {
		set, err = slate.Load(t.Context(), slate.StandIn, dataset.View{Seed: 2}, slate.Options{})
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
	path := filepath.Join(dir, experiment.ModelFile)
	tensors, meta, err := run.ReadSafetensors(path)
	if err != nil {
		t.Fatal(err)
	}
	delete(meta, sasrecIDsKey)
	err = system.WriteFile(path, func(w io.Writer) error { return run.WriteSafetensors(w, tensors, meta) })
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
	whole := runtest.NewFuse(t, 0, nil)
	if _, err := startSASRec(whole, filepath.Join(t.TempDir(), "run"), run.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := startSASRec(runtest.NewFuse(t, whole.Looks, nil), begun, run.Options{}); !run.WasInterrupted(err) {
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
