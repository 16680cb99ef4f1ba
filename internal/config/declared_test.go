package config

import (
	"strings"
	"testing"
)

type declaring struct {
	Name  string   `yaml:"name" limit:"filled"`
	Kind  string   `yaml:"kind" limit:"|plain|wide"`
	Other string   `yaml:"other" limit:"a|b?"`
	Width int      `yaml:"width" limit:"2..8" when:"kind=wide"`
	Least int      `yaml:"least" limit:"1.."`
	Rate  float64  `yaml:"rate" limit:"[1e-3,1]"`
	Below float64  `yaml:"below" limit:"[0,1)"`
	Above float64  `yaml:"above" limit:"(0,1]"`
	Inner float64  `yaml:"inner" limit:"(0,1)"`
	Words []string `yaml:"words" limit:"some of a|b"`
	Cuts  []int    `yaml:"cuts" limit:"some length of a list in 1..9"`
	Rungs struct {
		Keep int `yaml:"keep" limit:"2..9"`
	} `yaml:"rungs" when:"kind=plain|wide"`
	List []struct {
		Share float64 `yaml:"share" limit:"[0,1]"`
	} `yaml:"list"`
	Maybe *struct {
		Share float64 `yaml:"share" limit:"[0,1]"`
	} `yaml:"maybe"`
}

// Declared applies every form of limit, in groups, lists and what may be null, and only where its condition holds.
func TestDeclared(t *testing.T) {
	const right = "name: n\nleast: 1\nrate: 1\nabove: 1\ninner: 0.5\nwords: [a]\ncuts: [9]\n"
	for name, c := range map[string]struct{ text, want string }{
		"right":               {right, ""},
		"a word of the empty": {right + "kind: plain\nrungs: {keep: 2}\n", ""},
		"a wrong word":        {right + "kind: x\n", `f:8:7: kind: must be one of , plain, wide, got "x"`},
		"not set":             {right + "other: \"\"\n", ""},
		"set":                 {right + "other: x\n", `f:8:8: other: must be one of a, b, got "x"`},
		"under no condition":  {right + "width: 9\nrungs: {keep: 1}\n", ""},
		"under a condition": {right + "kind: wide\nwidth: 9\nrungs: {keep: 2}\n",
			"f:9:8: width: must lie in 2..8, got 9"},
		"a group's condition": {right + "kind: plain\nrungs: {keep: 1}\n", "f:9:15: rungs.keep: must lie in 2..9, got 1"},
		"an entry of a list": {right + "list: [{share: 1}, {share: 2}]\n",
			"f:8:28: list.1.share: must lie in [0,1], got 2"},
		"what may be null": {right + "maybe: {share: 2}\n", "f:8:16: maybe.share: must lie in [0,1], got 2"},
		"every other kind": {
			"name: \"\"\nleast: 0\nrate: 2\nbelow: 1\nabove: 0\ninner: 1\nwords: [c]\ncuts: [0, 0]\n",
			strings.Join([]string{"f:1:7: name: must not be empty", "f:2:8: least: must be at least 1, got 0",
				"f:3:7: rate: must lie in [0.001,1], got 2", "f:4:8: below: must lie in [0,1), got 1",
				"f:5:8: above: must lie in (0,1], got 0", "f:6:8: inner: must lie in (0,1), got 1",
				`f:7:8: words: must be one of a, b, got "c"`, "f:8:7: cuts: must lie in 1..9, got 0",
				"f:8:7: cuts: must lie in 1..9, got 0", "f:8:7: cuts: names 0 twice"}, "\n")},
		"lists without entries": {"name: n\nleast: 1\nrate: 1\nabove: 1\ninner: 0.5\nwords: []\ncuts: []\n",
			"f:6:8: words: must name at least one of a, b\nf:7:7: cuts: must name at least one length of a list"},
	} {
		of, doc, err := Parse("f", []byte(c.text), nil, declaring{})
		if err != nil {
			t.Fatal(err)
		}
		v, got := NewChecker(doc), ""
		v.Declared(of)
		if err := v.Err(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}
