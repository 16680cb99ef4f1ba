package nextitem

import (
	"context"
	"errors"
	"slices"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/run"
)

// taken returns the samples of a part as pairs of a user's name and a place.
func taken(x *Experiment, s dataset.Samples) map[string][]int32 {
	out := map[string][]int32{}
	for i, u := range s.User {
		out[x.Data.UserIDs[u]] = append(out[x.Data.UserIDs[u]], s.Length[i])
	}
	return out
}

// A share of the training samples is used, the same when it is cut again, and what is held out is
// held out of it. The number kept is binomial: six standard deviations off is a chance of 2e-9.
func TestSampled(t *testing.T) {
	inRun(t, small(), func(_ context.Context, x *Experiment) error {
		all := x.Train.Samples.Len() + x.Valid.Samples.Len()
		x.Fit.Sample = 0.25
		if err := x.cut.divide(x); err != nil {
			return err
		}
		used := taken(x, x.Refit.Samples)
		n, mean := float64(x.Refit.Samples.Len()), 0.25*float64(all)
		if d := n - mean; d*d > 36*mean*0.75 {
			t.Errorf("%v of %d samples are used, want some %v", n, all, mean)
		}
		if got := x.Train.Samples.Len() + x.Valid.Samples.Len(); got != x.Refit.Samples.Len() {
			t.Errorf("%d samples are learned or held out, %d used", got, x.Refit.Samples.Len())
		}
		if err := x.cut.divide(x); err != nil {
			return err
		}
		again := taken(x, x.Refit.Samples)
		for u, places := range used {
			if !slices.Equal(places, again[u]) {
				t.Fatalf("user %s: %v are used, and then %v", u, places, again[u])
			}
		}
		return nil
	})
}

// Data without one user, and with another item in place of one, use the same samples of all others.
func TestSampledOfNeighbours(t *testing.T) {
	inRun(t, small(), func(_ context.Context, x *Experiment) error {
		x.Fit.Sample = 0.5
		draw := func() map[string][]int32 {
			s, err := x.sampled(dataset.Prefixes(x.Data.Train))
			if err != nil {
				t.Fatal(err)
			}
			return taken(x, s)
		}
		before, gone := draw(), x.Data.UserIDs[3]
		x.Data.Train, x.Data.UserIDs = slices.Delete(slices.Clone(x.Data.Train), 3, 4), slices.Delete(slices.Clone(x.Data.UserIDs), 3, 4)
		x.Data.Train[0] = append(x.Data.Train[0][:1:1], x.Data.Train[0][0])
		after := draw()
		first := x.Data.UserIDs[0]
		for u, places := range before {
			if u != gone && u != first && !slices.Equal(places, after[u]) {
				t.Errorf("user %s: %v are used, and %v without user %s", u, places, after[u], gone)
			}
		}
		return nil
	})
}

func TestSampledRefuses(t *testing.T) {
	inRun(t, small(), func(_ context.Context, x *Experiment) error {
		for name, set := range map[string]func(){
			"none left": func() { x.Fit.Sample = 1e-12 },
			"windows":   func() { x.Fit.Sample, x.Window = 0.5, 4 },
		} {
			set()
			var usage *run.UsageError
			if err := x.cut.divide(x); !errors.As(err, &usage) {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
}
