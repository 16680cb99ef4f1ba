package topn

import "testing"

// A filter that counts rows reads the edges; the choice of ratings does not, for an edge is a row.
func TestFiltersThatCount(t *testing.T) {
	for _, c := range []struct {
		data DataConfig
		want bool
	}{
		{DataConfig{"ml-1m", "rdpgcf"}, false}, {DataConfig{"ml-1m", "rdpgcf-core"}, true}, {DataConfig{"gowalla", "lightgcn"}, false},
	} {
		if got, err := c.data.Filtered(); err != nil || got != c.want {
			t.Errorf("%v: filtered by numbers of rows %t (%v), want %t", c.data, got, err, c.want)
		}
	}
	if _, err := (DataConfig{"ml-1m", "none"}).Filtered(); err == nil {
		t.Error("a recipe that there is not has filters")
	}
}
