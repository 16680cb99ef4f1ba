package topn

import (
	"math"
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
		v.Declared(struct {
			Eval EvalConfig `yaml:"eval"`
		}{c.eval})
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

// Steps over a released graph grow with its edges, and only under a schedule. Graphs as large as the papers' own keep
// the steps that their rows have.
func TestScheduledOver(t *testing.T) {
	for _, c := range []struct {
		schedule string
		edges    int
		batch    int
		rate     float64
	}{
		{"", 10_000_000, 1024, 0.001},
		{ScheduleLarge, 1_113_000, 16384, 0.004}, // Yelp2018: 68 steps
		{ScheduleLarge, 75 * 16384, 16384, 0.004},
		{ScheduleLarge, 75*16384 + 1, 16385, 0.004 * math.Sqrt(16385.0/16384)},
		{ScheduleLarge, 4 * 75 * 16384, 4 * 16384, 0.008},
	} {
		got := TrainConfig{Schedule: c.schedule, Batch: 1024, Rate: 0.001}.ScheduledOver(c.edges)
		if got.Batch != c.batch || got.Rate != c.rate || got.Schedule != "" {
			t.Errorf("schedule %q over %d edges: %+v, want batch %d and rate %v", c.schedule, c.edges, got, c.batch,
				c.rate)
		}
	}
}
