package protect

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/baseline"
	"privrec/internal/dataset"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/perturb"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// An item keeps its name in the data files on every way from a run of histories to
// where items are named: a catalogue of slates, recommendations, an attack on the run.
// Names are numbers here, others than the tokens.
func TestHistoriesKeepNames(t *testing.T) {
	t.Setenv("PRIVREC_DATA", numberedSlates(t))
	task, dir := baseline.SASRec(nextitem.Table{}), filepath.Join(t.TempDir(), "run")
	_, err := task.Start(t.Context(), run.Options{
		Config: "../../../../configs/exposure/smoke-sasrec.yaml", Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{},
		Sets: []string{"run.out=" + dir, "run.workers=1", "data.name=own-numbered", "data.recipe=" + slate.HistoriesRecipe, "data.slate=4", "data.behaviour=2",
			"model.length=50", "train.epochs=1", "train.patience=0", "eval.k=[5]"},
	})
	if err != nil {
		t.Fatal(err)
	}
	set, err := slate.Load(t.Context(), "own-numbered", dataset.View{Seed: 1}, slate.Options{T: 4, L: 2})
	if err != nil {
		t.Fatal(err)
	}
	byToken, err := baseline.ItemVectors(t.Context(), dir, set)
	if err != nil {
		t.Fatal(err)
	}
	names := set.Items[slate.FirstItem:]
	c := perturb.NewCatalogue()
	for _, name := range names {
		c.Add(name)
	}
	near, err := openNeighbours(t.Context(), &FileOptions{Vectors: dir}, c)
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
	s, err := experiment.Ask(t.Context(), []run.Task{task}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, _, err := s.Histories(t.Context())
	if err != nil || len(all) == 0 {
		t.Fatalf("%d histories, %v", len(all), err)
	}
	answer, err := s.Recommend(t.Context(), experiment.Question{Users: []string{all[0].User}, K: 3})
	if err != nil {
		t.Fatal(err)
	}
	said := slices.Clone(all[0].Items)
	for _, i := range answer.Lists[0].Items {
		said = append(said, i.Item)
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
