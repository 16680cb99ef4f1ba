//go:build slow

package topn

import (
	"math"
	"os"
	"testing"

	"privrec/internal/nn"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// On the real Gowalla all users are ranked over all items, and popularity scores what an
// independent implementation measured, 0.0416 and 0.0317.
func TestRealGowalla(t *testing.T) {
	if os.Getenv("PRIVREC_DATA") == "" { // .ci/run sets it where the data are, and fails when a test says this then
		t.Skip("PRIVREC_DATA is not set: skipping the check on real data")
	}
	t.Setenv("PRIVREC_CACHE", t.TempDir())
	x, err := Load(t.Context(), run.Rehearse(1), Method{Data: DataConfig{Name: "gowalla", Recipe: "lightgcn"}, Eval: DefaultEval()})
	if err != nil {
		t.Fatal(err)
	}
	if x.Graph.Edges() != 810128 || x.test.rows() != 217242 || len(x.test.users) != 29858 || x.Data.Items != 40981 {
		t.Fatalf("%d and %d rows, %d users, %d items", x.Graph.Edges(), x.test.rows(), len(x.test.users), x.Data.Items)
	}
	_, popular, err := x.floors(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.0416, 0.0317} {
		if math.Abs(popular[i].Value-want) > 1e-4 {
			t.Errorf("popularity: %v is %.5f, want %v", popular[i].Metric, popular[i].Value, want)
		}
	}
	users, items := tensor.NewTable(x.Data.Users, 64), tensor.NewTable(x.Data.Items, 64)
	nn.Normal(1, 1)(users, "users")
	nn.Normal(1, 1)(items, "items")
	if _, err := x.rank(t.Context(), inner(users, items), x.test, 20); err != nil {
		t.Fatal(err)
	}
}
