package dipsgnn

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/train"
)

// The account of ten epochs on the real ML-1M, all training samples used as the
// published program does: its longest sequences put an edge into 78 prefixes, and
// the table of TestTable53 follows.
func TestRealAccount(t *testing.T) {
	if os.Getenv("PRIVREC_DATA") == "" {
		// The data are not in the repository; .ci/run, where they are, fails if this skips.
		t.Skip("PRIVREC_DATA is not set: skipping the check on real data")
	}
	t.Setenv("PRIVREC_CACHE", t.TempDir())
	for _, c := range []struct {
		std  string
		want map[string]float64 // epsilon by row of the table
	}{
		{StdSigma, map[string]float64{
			"one matrix": 5, "both matrices": 7.28, "deletion inside": 18.24, "unit edge, one epoch": 113.37, "unit edge, all": 737.03, "deletion, all": 3147.58,
		}},
		{StdSigmaSquared, map[string]float64{"one matrix": 25.86, "both matrices": 40.3}},
	} {
		sets := []string{
			"data.name=ml-1m", "data.candidates=ten-core", "train.select=test", "train.validation=0", "train.refit=false", `eval.noise=["off"]`,
			"privacy.transitions.noise_std=" + c.std,
		}
		inRun(t, sets, func(ctx context.Context, env *run.Env, cfg Config, x *nextitem.Experiment) error {
			if n, m := x.Train.Samples.Len(), x.Test.Samples.Len(); n != 284863 || m != 68774 || x.Items != 2810 {
				t.Errorf("%d training and %d test samples, %d candidates", n, m, x.Items)
			}
			p, err := newProtection(env, x, cfg)
			if err != nil {
				return err
			}
			counted, err := p.counted(&experiment.Fitted{Result: &train.Result{Epochs: make([]train.EpochRecord, 10)}})
			if err != nil {
				return err
			}
			account, err := counted.Privacy()
			if err != nil {
				return err
			}
			if m := account.Units[0].Accounted; m.MTrain != 780 || m.MEval != 0 || m.S2M != 1560 {
				t.Errorf("%+v, want 78 prefixes an epoch", m)
			}
			for prefix, want := range c.want {
				within(t, c.std+", "+prefix, float64(row(t, account, prefix).EpsRDP), want, 0.005)
			}
			if got := strings.Join(experiment.Names(account.Unbounded), ","); got != "labels,readout,backward,eval_noise_off,selection" {
				t.Errorf("unbounded: %s", got)
			}
			if f := AccountFeatures(x.Data.Features, p.cfg.Privacy.Features); f.K != 3 || f.N != 3 || !f.Zeroed || fmt.Sprint(f.Total) != "20" {
				t.Errorf("features %+v", f)
			}
			return nil
		})
	}
}
