package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"privrec/internal/demo"
	"privrec/internal/papers"
	"privrec/internal/system"
)

// The demo ends with three commands on what it has left, and says nothing of them where only a result is wanted.
func TestDemoSaysWhatIsNext(t *testing.T) {
	var errs bytes.Buffer
	app := &App{Tasks: papers.All(), Stdout: io.Discard, Stderr: &errs, Demo: func(context.Context, demo.Options) error { return nil }}
	if code := app.Execute(t.Context(), []string{"demo", "--out", "my tour"}); code != 0 {
		t.Fatal(code, errs.String())
	}
	commands := 0
	for line := range strings.Lines(errs.String()) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), system.ShellQuote(os.Args[0])+" ")
		if !ok {
			continue
		}
		commands++
		_, root := exampleRoot()
		if err := takes(t, app, commandOf(root, "privrec "+rest).CommandPath(), shellWords(t, "privrec "+rest)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if commands != 3 {
		t.Errorf("%d commands in\n%s", commands, errs.String())
	}
	for _, flag := range []string{"--quiet", "--json"} {
		errs.Reset()
		if code := app.Execute(t.Context(), []string{"demo", flag}); code != 0 || strings.Contains(errs.String(), "next") {
			t.Errorf("%s: %d, %s", flag, code, errs.String())
		}
	}
}
