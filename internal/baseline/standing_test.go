package baseline

import (
	"testing"

	"privrec/internal/experiment"
)

// A setting is compared with the tables where it differs from its profile in nothing
// but data, shape and length of training.
func TestStanding(t *testing.T) {
	mf := func(change func(*BPRSetting[BPRMFShape])) (experiment.Standing, error) {
		s := DefaultBPRMF()
		change(&s)
		return s.standing(nil, DefaultBPRMF)
	}
	for _, c := range []struct {
		name     string
		standing func() (experiment.Standing, error)
		text     string
		printed  bool
	}{
		{"paper", func() (experiment.Standing, error) { return mf(func(*BPRSetting[BPRMFShape]) {}) }, "profile paper", true},
		{"LightGCN's code", func() (experiment.Standing, error) {
			return CodeLightGCN().standing(nil, DefaultLightGCN, CodeLightGCN)
		}, "profile code", true},
		{"NGCF", func() (experiment.Standing, error) { return DefaultNGCF().standing(nil, DefaultNGCF) },
			"profile paper", true},
		{"other data", func() (experiment.Standing, error) {
			return mf(func(s *BPRSetting[BPRMFShape]) { s.Data.Name = "ml-1m" })
		}, "profile paper, changed: data.name=ml-1m", true},
		{"shorter", func() (experiment.Standing, error) {
			return mf(func(s *BPRSetting[BPRMFShape]) { s.Train.Epochs = 3 })
		}, "profile paper, changed: train.epochs=3", true},
		{"other rate", func() (experiment.Standing, error) {
			return mf(func(s *BPRSetting[BPRMFShape]) { s.Train.Rate = 1 })
		}, "profile paper, changed: train.rate=1", false},
		{"other ranking", func() (experiment.Standing, error) {
			return mf(func(s *BPRSetting[BPRMFShape]) { s.Eval.Sigmoid = true })
		}, "profile paper, changed: eval.sigmoid=true", false},
		{"own", func() (experiment.Standing, error) {
			return mf(func(s *BPRSetting[BPRMFShape]) { s.Profile = "mine" })
		}, `own setting "mine"`, false},
	} {
		got, err := c.standing()
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != c.text || got.Printed != c.printed {
			t.Errorf("%s: %+v, want %q, %t", c.name, got, c.text, c.printed)
		}
	}
}
