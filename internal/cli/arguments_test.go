package cli

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"privrec/internal/demo"
	"privrec/internal/papers"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ofPaths tells from its words that a flag names a file or a folder.
var ofPaths = regexp.MustCompile(`\b(files?|folders?|directory|picture|table of)\b`)

// notPaths are flags whose words speak of files and that name none.
var notPaths = map[string]bool{
	"mirror": true, // a web address
	"from":   true, // of data fetch: read, never made; of account curve: a number
	"task":   true, // of account epsilon: a task, where the name of a configuration file does not say it
	"about":  true, // of report record: a sentence on a file
	"names":  true, // of import vectors: arrays in files
	"log":    true, // of tasks: a form
	"delta":  true, // of report privacy: a number
}

// TestDashIsNoName gives "-" to every flag of every command that names a file or a folder:
// each refuses it, before it makes, reads or trains anything.
func TestDashIsNoName(t *testing.T) {
	t.Chdir(t.TempDir())
	app := &App{Tasks: papers.All(), Demo: demo.Run, Benches: benches(), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
	tried := map[string]int{}
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		for _, sub := range c.Commands() {
			walk(sub, append(path[:len(path):len(path)], sub.Name()))
		}
		if c.RunE == nil || c.HasSubCommands() {
			return
		}
		c.Flags().VisitAll(func(p *pflag.Flag) {
			if kind := p.Value.Type(); kind != "string" && kind != "stringArray" || notPaths[p.Name] || !ofPaths.MatchString(p.Usage) {
				return
			}
			tried[p.Name]++
			root := app.root()
			at, _, err := root.Find(path)
			if err != nil {
				t.Fatal(err)
			}
			at.Args = cobra.ArbitraryArgs
			at.RunE = func(*cobra.Command, []string) error {
				t.Errorf("%s runs with --%s -", strings.Join(path, " "), p.Name)
				return nil
			}
			given := []string{"--" + p.Name, "-"}
			if p.NoOptDefVal != "" { // the word after it would be an argument
				given = []string{"--" + p.Name + "=-"}
			}
			root.SetArgs(append(path[:len(path):len(path)], given...))
			want := `--` + p.Name + ` is "-", want the name of a file or a folder`
			if err := root.ExecuteContext(context.Background()); exitCode(err) != exitUsage || !strings.Contains(err.Error(), want) || hint(err) == "" {
				t.Errorf("%s --%s -: %v (hint %q)", strings.Join(path, " "), p.Name, err, hint(err))
			}
		})
	}
	walk(app.root(), nil)
	for _, name := range pathFlags {
		if tried[name] == 0 {
			t.Errorf("--%s was not tried", name)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left %v (%v)", left, err)
	}
}

// What other programs take as a flag or a word is answered by what sets it here.
func TestHintsOfForeignArguments(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir())
	for line, want := range map[string]string{
		"train lightgcn --data ml-1m":             "did you mean --set data.name=ml-1m?",
		"train lightgcn --dataset=ml-1m":          "did you mean --set data.name=ml-1m?",
		"train lightgcn --epochs 3":               "did you mean --set train.epochs=3?",
		"train lightgcn --epochs=3":               "did you mean --set train.epochs=3?",
		"train lightgcn --batch-size 64":          "did you mean --set train.batch=64?",
		"train lightgcn --lr 0.1":                 "did you mean --set train.rate=0.1?",
		"train lightgcn --train.epochs 3":         "did you mean --set train.epochs=3?",
		"train lightgcn --epochs --quiet":         "did you mean --set train.epochs=VALUE?",
		"train lightgcn --confg x":                "did you mean --config?",
		"train lightgcn --nothing 3":              "see privrec train lightgcn --help",
		"train lightgcn ml-1m":                    "did you mean --set data.name=ml-1m?",
		"train lightgcn train.epochs=3":           "did you mean --set train.epochs=3?",
		"train lightgcn gowalla.yaml":             "did you mean --config gowalla.yaml?",
		"attack membership ml-1m":                 "see privrec attack membership --help",
		"train lightgcn --set data.name=ML-1M":    `did you mean "ml-1m"?`,
		"train dasl --set data.name=standincross": `did you mean "standin-cross"?`,
		"attack exposure --set data.name=ml-1m":   "known are exposure-zhihu",
		"data stats movielens-1m":                 `did you mean "ml-1m"?`,
	} {
		var stderr bytes.Buffer
		app := &App{Tasks: papers.All(), Stdout: &bytes.Buffer{}, Stderr: &stderr}
		code := app.Execute(context.Background(), strings.Fields(line))
		_, hint, _ := strings.Cut(stderr.String(), "hint: ")
		if code != exitUsage && code != exitData || !strings.HasPrefix(hint, want) {
			t.Errorf("%s: exit %d, %q, want %q", line, code, hint, want)
		}
	}
}
