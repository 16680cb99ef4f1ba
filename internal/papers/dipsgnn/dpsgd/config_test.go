package dpsgd

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"privrec/internal/config"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/privacy"
)

// The setting of a sample and that of a user on ML-1M. Programs of the paper's time compute Rényi divergences of integer
// orders, and then need 0.570 and 0.833; the exact account needs a little less.
func TestNoiseMultipliers(t *testing.T) {
	for _, c := range []struct {
		of       Config
		examples int
		steps    int64
		rdp      float64
	}{{Default(), 284_863, 28_490, 0.570}, {Users(), 5_949, 930, 0.833}} {
		d, n := c.of.steps(c.examples, 1)
		z, err := c.of.calibrate(c.examples, false)
		if err != nil {
			t.Fatal(err)
		}
		by, err := c.of.byRDP(c.examples)
		if err != nil {
			t.Fatal(err)
		}
		if n != c.steps || d.Rate != float64(c.of.Train.Batch)/float64(c.examples) || math.Abs(by-c.rdp) > 1e-3 {
			t.Errorf("%s: %d steps, rate %v, noise multiplier %v by integer orders, want %v", c.of.Privacy.Unit, n, d.Rate, by, c.rdp)
		}
		if !(z < by && z > 0.85*by) {
			t.Errorf("%s: noise multiplier %v by the exact account, %v by integer orders", c.of.Privacy.Unit, z, by)
		}
		t.Logf("%s: z = %.4f, by integer orders %.4f", c.of.Privacy.Unit, z, by)
	}
}

// A user's samples as a group: one of them costs what a sample does, more cost more, and those of the longest
// sequence of ML-1M cost hundreds.
func TestGroup(t *testing.T) {
	c := Default()
	d, n := c.steps(284_863, 0.57)
	last := 3.0
	for _, k := range []int64{1, 2, 10, 79} {
		eps, err := group(d, n, k, c.Privacy.Delta, nil)
		if err != nil || !(eps > last) {
			t.Errorf("a group of %d: epsilon %v after %v, %v", k, eps, last, err)
		}
		t.Logf("a group of %d: epsilon %.1f", k, eps)
		last = eps
	}
	if last < 100 || last > 5000 {
		t.Errorf("epsilon %v for a user of 79 samples", last)
	}
	if got := most([]int32{1, 1, 3, 3, 3, 7}); got != 3 {
		t.Errorf("most samples of one user: %d, want 3", got)
	}
}

// The settings on MovieLens-1M have the noise of their rows in the list of epsilons.
func TestRows(t *testing.T) {
	list, err := dipsgnn.EpsilonRows().Rows(os.DirFS("../../../../configs"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, c := range []struct {
		file, setting string
		examples      int // of which TestRun and TestNoiseMultipliers have the counts
	}{
		{"ml-1m-v3-dpsgd", "V3, interaction exchanged, items released once, one epoch, ML-1M", 284_863},
		{"ml-1m-user-dpsgd", "V4, DP-SGD over users, ten epochs, ML-1M", 5_949},
	} {
		f, _, err := config.Load("../../../../configs/dipsgnn/"+c.file+".yaml", nil, struct {
			Of     string                `yaml:"task"`
			Run    struct{ Seed uint64 } `yaml:"run"`
			Config `yaml:",inline"`
		}{})
		if err != nil {
			t.Fatal(err)
		}
		z, err := f.calibrate(c.examples, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if r.Setting != c.setting {
				continue
			}
			found++
			want := fmt.Sprintf("noise multiplier %.4g over %d steps", z, f.descent(c.examples).Steps())
			if p := f.Privacy; !strings.HasPrefix(r.Repaired.Noise, want) || float64(*r.Claimed) != p.Epsilon || r.Delta != p.Delta || string(r.Unit) != p.Unit || r.Neighbouring != p.neighbouring() ||
				float64(r.Repaired.Whole) > p.Epsilon || float64(r.Repaired.Whole) < p.Epsilon*(1-1e-6) {
				t.Errorf("%s has %q at %+v, its row %+v", c.file, want, p, r.Repaired)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of 2 rows", found)
	}
}

func TestBadSettings(t *testing.T) {
	for set, want := range map[string]string{
		"privacy.unit=edge": "privacy.unit", "privacy.unit=interaction": "privacy.inputs: must lie in (0,1), got 0", "privacy.inputs=0.5": "privacy.inputs: needs privacy.unit=interaction", "privacy.epsilon=0": "privacy.epsilon", "privacy.epsilon=.inf": "privacy.epsilon", "privacy.delta=1": "privacy.delta",
		"privacy.clip=0": "privacy.clip", "privacy.features.epsilon=-1": "privacy.features.epsilon", "train.epochs=0": "train.epochs", "train.batch=0": "train.batch",
		"train.validation=0.1": "train.validation", "model.dim=0": "model.dim", "eval.k=[0]": "eval.k", "data.name=": "data.name", "profile=": "profile",
	} {
		if err := Task().Check("", []string{set}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", set, err)
		}
	}
	if Users().Privacy.Unit != string(privacy.User) {
		t.Error("users")
	}
}
