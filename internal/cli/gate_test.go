package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command whose answer is not good enough shows it and ends with code 4.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	head := "privrec_events: 1\nunit: user\nrecords: 1000\ndelta: 1e-6\nevents:\n"
	files := map[string]string{
		"whole.yaml":  head + "  - {mechanism: laplace, scale: 4, sensitivity: 1}\n",
		"fault.yaml":  head + "  - {mechanism: gaussian, sigma: 4, sensitivity: 1, clip: 2}\n",
		"unsaid.yaml": head + "  - {mechanism: dp-sgd, noise_multiplier: 2, sampling_rate: 0.01, steps: 10}\n",
		"open.yaml":   head + "  - {mechanism: laplace, scale: 4, sensitivity: 1}\nopen: [{what: lengths, why: they are those of histories}]\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ledger := "../../testdata/runs/train-dipsgnn"
	for _, c := range []struct {
		args string
		code int
		why  string
	}{
		{"account events whole.yaml", exitDone, ""},
		{"account events whole.yaml --max-epsilon 0.25 --strict", exitDone, ""},
		{"account events whole.yaml --max-epsilon 0.2", exitPrivacy, "epsilon of one user is 0.249998, and --max-epsilon is 0.2"},
		{"account events open.yaml", exitDone, ""},
		{"account events open.yaml --max-epsilon 100", exitPrivacy, "epsilon of one user is infinite"},
		{"account events open.yaml --strict", exitPrivacy, "open: lengths"},
		{"account events fault.yaml --max-epsilon 100", exitDone, ""},
		{"account events fault.yaml --strict", exitPrivacy, "sensitivity-too-small"},
		{"account events unsaid.yaml --max-epsilon 100", exitDone, ""},
		{"account events unsaid.yaml --strict", exitPrivacy, "if users were shuffled, which is not said"},
		{"account ledger " + ledger + " --delta 1e-6", exitDone, ""},
		{"account ledger " + ledger + " --delta 1e-6 --max-epsilon 1e9", exitPrivacy, "epsilon of one edge is infinite"},
		{"account ledger " + ledger + " --delta 1e-6 --strict", exitPrivacy, "research noise"},
		{"report privacy whole.yaml --max-epsilon 1 --force --out page.html", exitDone, ""},
		{"report privacy open.yaml --max-epsilon 1 --force --out page.html", exitPrivacy, "epsilon of one user is infinite"},
		{"report privacy unsaid.yaml --strict --force --out page.html", exitPrivacy, "which is not said"},
		{"account events whole.yaml --max-epsilon few", exitUsage, "want a finite number"},
		{"account events whole.yaml --max-epsilon -1", exitUsage, "want a finite number"},
	} {
		args := strings.Fields(c.args)
		for i, a := range args {
			if strings.HasSuffix(a, ".yaml") || strings.HasSuffix(a, ".html") {
				args[i] = filepath.Join(dir, a)
			}
		}
		var out, errs bytes.Buffer
		code := (&App{Stdout: &out, Stderr: &errs}).Execute(context.Background(), args)
		if code != c.code || !strings.Contains(errs.String(), c.why) || (c.why == "") != (errs.Len() == 0) {
			t.Errorf("%s: code %d, want %d: %s", c.args, code, c.code, errs.String())
		}
		if shown := out.Len() > 0; shown != (code != exitUsage) {
			t.Errorf("%s: with code %d it shows %q", c.args, code, out.String())
		}
	}
}
