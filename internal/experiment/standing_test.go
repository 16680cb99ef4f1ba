package experiment

import (
	"testing"

	"privrec/internal/train"
)

type setting struct {
	Profile string `yaml:"profile"`
	Dim     int    `yaml:"dim"`
	Epochs  int    `yaml:"epochs"`
}

// A setting is that of its profile, one that differs in free keys, another method, or one of
// the user's own.
func TestStand(t *testing.T) {
	named := map[string]setting{"paper": {"paper", 64, 100}}
	length := func(s setting) train.Length { return train.Length{Epochs: s.Epochs} }
	for _, c := range []struct {
		setting setting
		want    Standing
	}{
		{setting{"paper", 64, 100}, Standing{"profile paper", true, train.Length{Epochs: 100}}},
		{setting{"paper", 64, 5}, Standing{"profile paper, changed: epochs=5", true, train.Length{Epochs: 100}}},
		{setting{"paper", 8, 5}, Standing{"profile paper, changed: dim=8, epochs=5", false, train.Length{Epochs: 100}}},
		{setting{"mine", 64, 100}, Standing{Text: `own setting "mine"`}},
	} {
		got, err := Stand(c.setting, c.setting.Profile, named, length, "epochs")
		if err != nil || got != c.want {
			t.Errorf("%+v: %+v, %v; want %+v", c.setting, got, err, c.want)
		}
	}
	if got, err := Stand(named["paper"], "paper", named, nil); err != nil || got.Stated != (train.Length{}) {
		t.Errorf("without a length: %+v, %v", got, err)
	}
}
