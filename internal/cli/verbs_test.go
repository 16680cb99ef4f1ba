package cli

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"privrec/internal/run"
	"privrec/internal/system"
)

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{"a-b_c./=1": "a-b_c./=1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "tags=[a]": "'tags=[a]'"} {
		if got := system.ShellQuote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// TestResumeLineKeepsSeed checks that --seed 1 is repeated where it was given, and only there.
func TestResumeLineKeepsSeed(t *testing.T) {
	for _, x := range []struct{ given, want string }{
		{"", "privrec train x --set run.seed=7 --out d --resume"},
		{"1", "privrec train x --set run.seed=7 --seed 1 --out d --resume"},
		{"9", "privrec train x --set run.seed=7 --seed 9 --out d --resume"},
	} {
		f := taskFlags{sets: []string{"run.seed=7"}}
		var c cobra.Command
		c.Flags().Uint64Var(&f.seed, "seed", 1, "")
		if x.given != "" {
			if err := c.Flags().Set("seed", x.given); err != nil {
				t.Fatal(err)
			}
		}
		if got := resumeLine(&c, run.Task{Verb: "train", Name: "x"}, f, "d"); got != x.want {
			t.Errorf("--seed %q: %s", x.given, got)
		}
	}
}

// A task's flags are kept for the line that resumes it, a list's once an entry, and become
// overrides of strings, of lists and of true or false.
func TestOwnFlags(t *testing.T) {
	task := run.Task{Verb: "attack", Name: "x", Flags: []run.Flag{{Name: "on", Key: "on.runs", List: true}, {Name: "lists", Key: "files.lists"}, {Name: "secure", Key: "noise.secure", Switch: true}}}
	for _, x := range []struct {
		given [][2]string
		sets  []string
		line  string
	}{
		{nil, nil, "privrec attack x --out d --resume"},
		{[][2]string{{"on", "a"}, {"on", "b, c"}}, []string{`on.runs=["a","b, c"]`}, "privrec attack x --on a --on 'b, c' --out d --resume"},
		{[][2]string{{"lists", "1"}, {"lists", "l.tsv"}}, []string{`files.lists="l.tsv"`}, "privrec attack x --lists l.tsv --out d --resume"},
		{[][2]string{{"secure", "1"}}, []string{"noise.secure=true"}, "privrec attack x --secure=true --out d --resume"},
		{[][2]string{{"secure", "false"}}, []string{"noise.secure=false"}, "privrec attack x --secure=false --out d --resume"},
	} {
		f := taskFlags{own: map[string]*[]string{}}
		var c cobra.Command
		for _, own := range task.Flags {
			f.own[own.Name] = ownFlag(c.Flags(), own)
		}
		for _, g := range x.given {
			if err := c.Flags().Set(g[0], g[1]); err != nil {
				t.Fatal(err)
			}
		}
		sets, err := f.ownOverrides(&c, task)
		if err != nil || !slices.Equal(sets, x.sets) {
			t.Errorf("%q: overrides %q, %v, want %q", x.given, sets, err, x.sets)
		}
		if got := resumeLine(&c, task, f, "d"); got != x.line {
			t.Errorf("%q: %s, want %s", x.given, got, x.line)
		}
	}
}

// A switch takes no word on the command line, and no word but true and false where one is given.
func TestSwitch(t *testing.T) {
	var c cobra.Command
	given := ownFlag(c.Flags(), run.Flag{Name: "secure", Key: "noise.secure", Switch: true})
	if err := c.ParseFlags([]string{"--secure"}); err != nil || !slices.Equal(*given, []string{"true"}) {
		t.Errorf("%v, %v", *given, err)
	}
	if err := c.ParseFlags([]string{"--secure=perhaps"}); err == nil {
		t.Error("a switch took a word that is neither true nor false")
	}
}
