package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

type sparePart struct {
	Rate float64 `yaml:"rate,omitempty"`
	Keep int     `yaml:"keep"`
}

// SpareInline is inlined, which needs an exported name.
type SpareInline struct {
	First  int `yaml:"first,omitempty"`
	Second int `yaml:"second"`
}

type spareWhole struct {
	SpareInline `yaml:",inline"`
	Word        string    `yaml:"word,omitempty"`
	Part        sparePart `yaml:"part"`
	Gone        sparePart `yaml:"gone,omitempty"`
	List        []int     `yaml:"list,omitempty"`
	On          bool      `yaml:"on,omitempty"`
	Last        int       `yaml:"last"`
}

func spareDefaults() spareWhole {
	return spareWhole{SpareInline: SpareInline{First: 3, Second: 4}, Word: "a", Part: sparePart{Rate: 0.5, Keep: 1}, Gone: sparePart{Rate: 2, Keep: 7}, List: []int{5}, On: true, Last: 9}
}

// What EncodeOver writes reads as the same values over the defaults, with its keys in the order of the
// type; what Encode writes does over Bare.
func TestWhatIsSetIsSaved(t *testing.T) {
	def := spareDefaults()
	zero := def
	zero.First, zero.Word, zero.Part.Rate, zero.Gone, zero.List, zero.On = 0, "", 0, sparePart{}, nil, false
	part := def
	part.Gone.Rate = 0
	for name, c := range map[string]struct {
		c    spareWhole
		text string
	}{
		"the defaults": {def, ""},
		"all zero": {zero, `first: 0
second: 4
word: ""
part:
  rate: 0
  keep: 1
gone:
  rate: 0
  keep: 0
list: []
"on": false
last: 9
`},
		"within a group": {part, `first: 3
second: 4
word: a
part:
  rate: 0.5
  keep: 1
gone:
  rate: 0
  keep: 7
list:
  - 5
"on": true
last: 9
`},
	} {
		plain, err := Encode(c.c)
		if err != nil {
			t.Fatal(err)
		}
		text, err := EncodeOver(c.c, def)
		if err != nil {
			t.Fatal(err)
		}
		if c.text == "" {
			c.text = string(plain)
		}
		if d := cmp.Diff(c.text, string(text)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		for what, read := range map[string]struct {
			text []byte
			over spareWhole
		}{"over the defaults": {text, def}, "over bare ones": {plain, Bare(def)}, "all keys over bare ones": {text, Bare(def)}} {
			got, _, err := Parse(name, read.text, nil, read.over)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.List) == 0 {
				got.List = nil
			}
			if d := cmp.Diff(c.c, got); d != "" {
				t.Errorf("%s, %s: %s", name, what, d)
			}
		}
	}
	if got, _, err := Parse("plain", []byte("last: 9\n"), nil, def); err != nil || got.First != 3 {
		t.Errorf("a key that is absent does not take its default: %+v, %v", got, err)
	}
	got, err := Diff(def, zero)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"first=0", "gone.keep=0", "gone.rate=0", "list=", "on=false", "part.rate=0", "word="}, got); d != "" {
		t.Error(d)
	}
}
