package baseline

import (
	"testing"

	"privrec/internal/model/nearest"
	"privrec/internal/protocol/computed"
)

// The floor beside results on own data is what train ease and train itemknn compute.
func TestComputedFloor(t *testing.T) {
	if e := DefaultEASE().Model; e.Lambda != computed.Lambda {
		t.Errorf("EASE %+v", e)
	}
	k := DefaultItemKNN().Model
	if want := (ItemKNNShape{Similarity: string(nearest.Cosine), Neighbours: computed.Neighbours, Normalise: true, MeanBias: true}); k != want {
		t.Errorf("ItemKNN %+v", k)
	}
}
