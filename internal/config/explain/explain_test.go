package explain

import (
	"testing"

	"privrec/internal/config"

	"github.com/google/go-cmp/cmp"
)

type part struct {
	Rate float64 `yaml:"rate"`
	More string  `yaml:"more,omitempty"`
}

type entry struct {
	Name string `yaml:"name"`
}

type whole struct {
	Part part    `yaml:"part"`
	List []entry `yaml:"list"`
	K    []int   `yaml:"k"`
	On   part    `yaml:"on"` // which YAML quotes
	Gone *part   `yaml:"gone,omitempty"`
}

// Comments stand before keys, those of keys that are left out at the end of their group, and the
// result reads as the same configuration.
func TestYAML(t *testing.T) {
	const in = "privrec/internal/config/explain."
	c := Parse(in + "part.Rate\tof every step\n" + in + "part.More\ta word\n" + in + "part\tsets a part.\n" + in + "whole.Gone\tgone keeps.\nnot a comment\n")
	if got := c[in+"part.More"]; got != "a word" || len(c) != 4 {
		t.Fatalf("parsed %q", c)
	}
	value := whole{Part: part{Rate: 0.5}, List: []entry{{"a"}, {"b"}}, K: []int{5, 10}}
	text, err := config.Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	got := string(YAML(text, config.Fields[whole](), map[string]string{"part.rate": "(0,1]", "list[].name": "not empty", "k": "1..9", "on.rate": "(0,1]"}, c))
	want := `# part sets a part.
part:
  # of every step. Values: (0,1].
  rate: 0.5
  # a word
  # more:
#   name: name of the data set or of the attribute
list:
  - name: a
  - name: b
# cutoffs of the metrics: lengths of lists. Values: 1..9.
k:
  - 5
  - 10
# on sets a part.
"on":
  # of every step. Values: (0,1].
  rate: 0
  # a word
  # more:
# gone keeps. It sets a part.
# gone:
#   rate: of every step
#   more: a word
`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	back, _, err := config.Parse("explained", []byte(got), nil, whole{})
	if d := cmp.Diff(value, back); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
}
