package registry_test

import (
	"context"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Synthetic data go through the same steps as real ones; their evidence level says so.
func ExampleLoad() {
	s, err := registry.Load(context.Background(), "standin-tiny", "dipsgnn", dataset.View{Seed: 1}, registry.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	raw, _ := s.Ladder.Get(dataset.RungRaw)
	fmt.Println(raw.Users, "users,", raw.Items, "items,", raw.Rows, "rows, level", s.Source.Level)

	samples := dataset.Prefixes([][]int32{{7, 8, 9}})
	for i := range samples.Len() {
		prefix, next := samples.At([][]int32{{7, 8, 9}}, i)
		fmt.Println(prefix, "->", next)
	}
	// Output:
	// 200 users, 300 items, 9000 rows, level D
	// [7] -> 8
	// [7 8] -> 9
}
