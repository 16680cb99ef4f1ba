package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"privrec/internal/papers"
	"privrec/internal/run"
)

// Every command that writes to an --out is in the script that holds its files to the umask. Those that train, attack and
// audit write run directories in one way, so that one of each verb stands for them.
func TestEveryOutIsHeldToTheUmask(t *testing.T) {
	b, err := os.ReadFile("../../testdata/script/umask.txt")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	tasks := papers.All()
	n := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if !c.Runnable() || c.Flags().Lookup("out") == nil {
			return
		}
		n++
		want := c.CommandPath()
		of := func(x run.Task) bool { return "privrec "+x.String() == want }
		for _, x := range tasks {
			if of(x) && (x.Verb == "train" || x.Verb == "attack" || x.Verb == "audit") {
				want = "privrec train "
				if x.Verb != "train" {
					want = "privrec attack "
				}
			}
		}
		want = strings.Replace(want, "account curve laplace", "account curve gaussian", 1)
		want = strings.Replace(want, "account curve sampled-gaussian", "account curve gaussian", 1)
		if !strings.Contains(text, "\n"+want) && !strings.Contains(text, "\n\t"+want) {
			t.Errorf("%s: testdata/script/umask.txt does not have it", c.CommandPath())
		}
	}
	walk((&App{Tasks: tasks, Benches: benches(), Demo: nil}).root())
	if n < 50 {
		t.Errorf("only %d commands have --out", n)
	}
}
