package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/papers"
	"privrec/internal/record"
)

// The page of everything is made from kept runs alone, and fails here when a number in it, a verdict or a record
// is changed by hand.
func TestResultsPage(t *testing.T) {
	app := &App{Tasks: papers.All(), Stdout: io.Discard, Stderr: io.Discard}
	const docs = "../../docs/results/"
	shelf, err := record.OpenShelf("../../" + record.KeptRuns)
	if err != nil {
		t.Fatal(err)
	}
	defer shelf.Close()
	set, err := app.keptSet(t.Context(), shelf, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	page, document, err := set.Summary(func(run string) string { return "records/runs/" + run + ".json" })
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(io.Writer) error{"index.html": page.HTML, "index.md": document.Markdown} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join(docs, name), got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("docs/results/%s is out of date, run make docs:\n%s", name, diff)
		}
	}
	if unused, err := shelf.Unused(); err != nil || len(unused) > 0 {
		t.Errorf("kept runs that no table asks for: %v, %v", unused, err)
	}
}
