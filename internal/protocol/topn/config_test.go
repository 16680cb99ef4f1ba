package topn

import (
	"strings"
	"testing"

	"privrec/internal/config"
)

// What is made at once has no epochs to rank after, and no inner products to squash.
func TestEvalAtOnce(t *testing.T) {
	for _, c := range []struct {
		eval EvalConfig
		want []string
	}{
		{EvalConfig{K: []int{20}}, nil},
		{EvalConfig{K: []int{20}, Every: true}, []string{"eval.every"}},
		{EvalConfig{K: []int{0}, Sigmoid: true}, []string{"eval.k", "eval.sigmoid"}},
	} {
		v := config.NewChecker(nil)
		c.eval.CheckAtOnce(v)
		got := ""
		if err := v.Err(); err != nil {
			got = err.Error()
		}
		for _, key := range c.want {
			if !strings.Contains(got, key) {
				t.Errorf("%+v: %q does not name %s", c.eval, got, key)
			}
		}
		if (c.want == nil) != (got == "") {
			t.Errorf("%+v: %q", c.eval, got)
		}
	}
}

// A filter that counts rows reads the edges; the choice of ratings does not, for an edge is a row.
func TestFiltersThatCount(t *testing.T) {
	for _, c := range []struct {
		data DataConfig
		want bool
	}{
		{DataConfig{Name: "ml-1m", Recipe: "rdpgcf"}, false}, {DataConfig{Name: "ml-1m", Recipe: "rdpgcf-core"}, true}, {DataConfig{Name: "gowalla", Recipe: "lightgcn"}, false},
	} {
		if got, err := c.data.Filtered(); err != nil || got != c.want {
			t.Errorf("%v: filtered by numbers of rows %t (%v), want %t", c.data, got, err, c.want)
		}
	}
	if _, err := (DataConfig{Name: "ml-1m", Recipe: "none"}).Filtered(); err == nil {
		t.Error("a recipe that there is not has filters")
	}
}
