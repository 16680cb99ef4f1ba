//go:build slow

package imported_test

import (
	"os"
	"testing"
)

// TestVectorsRoundTripReal does it on MovieLens 100K.
func TestVectorsRoundTripReal(t *testing.T) {
	if os.Getenv("PRIVREC_DATA") == "" {
		t.Skip("PRIVREC_DATA is not set")
	}
	for _, name := range []string{"train bprmf", "train lightgcn"} {
		roundTrip(t, name, "data.name=ml-100k", "data.recipe=gerai-valid", "model.dim=16", "train.epochs=4", "eval.k=[5, 10, 20]")
	}
}
