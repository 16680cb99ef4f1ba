package cli

import (
	"testing"

	"github.com/spf13/cobra"

	"privrec/internal/run"
)

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{"a-b_c./=1": "a-b_c./=1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "tags=[a]": "'tags=[a]'"} {
		if got := shellQuote(in); got != want {
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
