package statistics

import (
	"context"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/run"
)

// measure runs the task and returns what it keeps.
func measure(t *testing.T, sets ...string) (*experiment.Outcome[experiment.Data], string, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	o := run.Options{Sets: append(sets, "run.out="+dir), Stdout: io.Discard, Progress: run.Silent{}, Log: slog.New(slog.DiscardHandler)}
	if _, err := Task().Start(context.Background(), o); err != nil {
		return nil, dir, err
	}
	out, err := experiment.ReadOutcome(dir)
	return out, dir, err
}

// value returns a statistic of an evaluation, NaN where it is not there.
func value(o *experiment.Outcome[experiment.Data], evaluation, statistic string) float64 {
	for _, e := range o.Evaluations {
		if e.Name == evaluation {
			if x, ok := e.Values[statistic]; ok {
				return x
			}
		}
	}
	return math.NaN()
}

// Each kind of data set gives the counts of its ladder.
func TestMeasure(t *testing.T) {
	type want struct {
		evaluation, statistic string
		is                    float64
	}
	for _, c := range []struct {
		name  string
		sets  []string
		wants []want
	}{
		{"one domain", []string{"data.name=standin-tiny", "data.recipe=rdpgcf"}, []want{
			{"raw", "users", 200}, {"raw", "items", 300}, {"raw", "interactions", 9000}, {"raw", "density", 9000.0 / 200 / 300}, {"raw", "mean length", 45},
			{"raw", "features", math.NaN()}, {"raw", "clicks", math.NaN()},
		}},
		{"features", []string{"data.name=standin-tiny", "data.recipe=gerai", "data.bands={age: [35, 45]}"}, []want{
			{"raw", "features", 3}, {"feature gender", "dimensions", 2}, {"feature age", "dimensions", 3}, {"feature occupation", "dimensions", 21}, {"feature age", "users", math.NaN()},
		}},
		{"several domains", []string{"data.name=standin-cross"}, []want{
			{"left", "users", 240}, {"right", "users", 240}, {"left", "items", 279}, {"right", "items", 194},
		}},
		{"slates", []string{"data.name=standin-slates"}, []want{
			{"log", "users", 300}, {"log", "impressions", 42000}, {"log", "clicks", 7110}, {"pairs", "pairs", 5401}, {"log", "pairs", math.NaN()}, {"pairs", "impressions", math.NaN()},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, dir, err := measure(t, c.sets...)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range c.wants {
				if got := value(o, w.evaluation, w.statistic); got != w.is && !(math.IsNaN(got) && math.IsNaN(w.is)) {
					t.Errorf("%s of %s is %v, want %v", w.statistic, w.evaluation, got, w.is)
				}
			}
			if o.Data.Level != dataset.LevelD || o.Definitions["density"] == "" || o.Protocol != "statistics" {
				t.Errorf("level %v, protocol %q, definitions %v", o.Data.Level, o.Protocol, o.Definitions)
			}
			ledger, err := os.ReadFile(filepath.Join(dir, run.LedgerName))
			if err != nil || !strings.Contains(string(ledger), "exact counts of the rows") {
				t.Errorf("the ledger does not say that the counts are exact: %v", err)
			}
		})
	}
}

// What cannot be counted is refused by a message that names it.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		sets []string
		want string
	}{
		{nil, "data.name"},
		{[]string{"data.name=none-such"}, "none-such: unknown data set"},
		{[]string{"data.name=standin-tiny", "data.recipe=none"}, "none"},
		{[]string{"data.name=standin-tiny", "data.recipe=gerai", "data.bands={age: [45, 35]}"}, "ascend"},
	} {
		if _, _, err := measure(t, c.sets...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.sets, err, c.want)
		}
	}
}

// The counts of ML-1M are those of an independent run of DIPSGNN's rules.
func TestReal(t *testing.T) {
	if os.Getenv("PRIVREC_DATA") == "" {
		t.Skip("PRIVREC_DATA is not set")
	}
	o, _, err := measure(t, "data.name=ml-1m", "data.recipe=dipsgnn")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		evaluation, statistic string
		is                    float64
	}{
		{"10-core", "users", 5949}, {"10-core", "items", 2810}, {"10-core", "interactions", 571531}, {"last 100", "interactions", 365535},
		{"10-core", "mean length", 571531.0 / 5949}, {"last 100", "mean length", 365535.0 / 5949}, {"last 100", "features", 3},
	} {
		if got := value(o, w.evaluation, w.statistic); got != w.is {
			t.Errorf("%s of %s is %v, want %v", w.statistic, w.evaluation, got, w.is)
		}
	}
}
