package cli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"privrec/internal/papers"
	"privrec/internal/run"
)

// A command that saves nothing ends at the first signal, in words and with the exit code of an interruption, whatever
// it computes.
func TestAnswersEndAtTheFirstSignal(t *testing.T) {
	gone, stop := context.WithCancel(context.Background())
	stop()
	for _, line := range []string{
		"account laplace --sensitivity 264 --steps 260000000 --scale 1.05 --at-epsilon .81",
		"account sampled-gaussian --noise-multiplier 1 --sampling-rate 0.01 --steps 100000 --delta 1e-6",
		"account rdp gaussian --sigma 1 --sensitivity 1 --alpha 4",
		"account selection gaussian --sigma 1 --sensitivity 1 --steps 3 --delta 1e-6 --trials 10 --eta 1",
		"account ledger ../../testdata/runs/train-dipsgnn --delta 1e-6",
		"account calibrate sampled-gaussian --sampling-rate 0.3 --steps 1000000 --epsilon 1 --delta 1e-90 " +
			"--accountant pld",
		"audit exact pricdsr",
		"account epsilon --paper dipsgnn",
		"compare ../../testdata/runs/train-ease ../../testdata/runs/train-itemknn",
	} {
		var out, errs bytes.Buffer
		app := &App{Tasks: papers.All(), Stdout: &out, Stderr: &errs}
		if code := app.Execute(gone, strings.Fields(line)); code != exitInterrupted || out.Len() > 0 || !slices.Contains(strings.Split(errs.String(), "\n"), "error: interrupted") {
			t.Errorf("%s: exit code %d, %q and %q", line, code, out.String(), errs.String())
		}
	}
}

// answers does not wait for work that never looks at its context.
func TestAnswersDoNotWait(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	begun, never := make(chan bool), make(chan bool)
	c := &cobra.Command{Use: "deaf", SilenceErrors: true, SilenceUsage: true}
	(&App{}).answers(c, func(*cobra.Command, []string) (run.Result, error) {
		close(begun)
		<-never
		return nil, nil
	})
	c.SetArgs(nil)
	go func() {
		<-begun
		stop()
	}()
	if err := c.ExecuteContext(ctx); !run.WasInterrupted(err) {
		t.Errorf("%v", err)
	}
	close(never)
}
