package papers

import (
	"strings"
	"testing"

	"privrec/internal/config"
	"privrec/internal/run"
)

// Of every key that files leave out at zero and whose default is not zero, the zero is what a run
// saves: its config.yaml is the same configuration when it is read again.
func TestZeroIsSaved(t *testing.T) {
	zero := map[string]string{"true or false": "false", "text": `""`, "an integer": "0", "an integer of at least 0": "0", "a number": "0"}
	found := 0
	for _, task := range All() {
		text, err := task.Defaults()
		if err != nil {
			t.Fatal(err)
		}
		values, err := config.Flat("defaults", text)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range task.Fields() {
			below := 0 // values of the key: one, or those of a list or a group
			for path, value := range values {
				if (path == f.Path || strings.HasPrefix(path, f.Path+".")) && value != "0" && value != "false" && value != "" {
					below++
				}
			}
			if !f.Spare || below == 0 {
				continue
			}
			none, ok := zero[f.Kind]
			switch {
			case f.List:
				none = "[]"
			case !ok:
				t.Fatalf("%s: %s is %q: this test knows no zero of it", task, f.Path, f.Kind)
			}
			found++
			set := f.Path + "=" + none
			p, err := task.Plan(run.Options{Sets: []string{set, "run.out=" + t.TempDir()}})
			if err != nil {
				t.Logf("%s refuses %s: %v", task, set, err)
				continue
			}
			text, err := p.Config()
			if err != nil {
				t.Errorf("%s with %s: %v", task, set, err)
				continue
			}
			again, err := task.Plan(run.Options{Config: "config.yaml", Text: text})
			if err != nil {
				t.Errorf("%s with %s: %v", task, set, err)
				continue
			}
			if back, err := again.Config(); err != nil || p.Hash != again.Hash || string(text) != string(back) {
				t.Errorf("%s with %s is saved as another configuration (%v):\n%s", task, set, err, text)
			}
		}
	}
	if found == 0 {
		t.Error("no key is left out at zero and has another default: this test tests nothing")
	}
	t.Logf("%d keys", found)
}
