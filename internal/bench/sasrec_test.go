package bench

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"privrec/internal/model/sasrec"
)

func smallSequences() sasrecSizes {
	return sasrecSizes{Config: sasrec.Config{Dim: 8, Blocks: 1, Heads: 1, Length: 10, Dropout: 0.2, Norm: sasrec.NormCode}, items: 30, batch: 4, users: 8}
}

func TestSASRec(t *testing.T) {
	got, err := sasrecOf(context.Background(), Options{Time: time.Microsecond}, smallSequences())
	if err != nil {
		t.Fatal(err)
	}
	// The losses are those of sasrec.py, which computes them with PyTorch.
	want := []string{"sasrec_all loss=3.688130", "sasrec_sampled loss=1.387470"}
	if len(got) != len(want) {
		t.Fatalf("%d results, want %d", len(got), len(want))
	}
	for i, r := range got {
		name, loss, _ := strings.Cut(want[i], " ")
		if r.Name != name || !strings.Contains(r.Shape, loss[:len(loss)-1]) || !(r.MinS > 0 && r.MedianS >= r.MinS) {
			t.Errorf("%+v, want %s", r, want[i])
		}
	}
}

// A step moves the item table, with either loss.
func TestSASRecTrains(t *testing.T) {
	for _, sampled := range []bool{false, true} {
		s, err := newSASRecStep(smallSequences(), sampled)
		if err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(s.model.Item.Value.Data)
		if err := s.run(); err != nil || slices.Equal(before, s.model.Item.Value.Data) {
			t.Errorf("sampled %v: the items stand still, %v", sampled, err)
		}
	}
}
