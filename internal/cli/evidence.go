package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"privrec/configs"
	"privrec/internal/claims"
	"privrec/internal/cli/screen"
	"privrec/internal/record"
	"privrec/internal/reproduce"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
)

// shelf opens the folder of kept runs that the flags name, nil where they name none.
func (f *tableFlags) shelf() (*record.Shelf, error) {
	switch {
	case f.jobs < 1:
		return nil, usagef("1 is the default", "--jobs is %d, want at least 1", f.jobs)
	case f.during < 0:
		return nil, usagef("as in --for 150m", "--for is %v, want a time", f.during)
	case f.jobs > 1 && f.during == 0:
		return nil, usagef("as in --for 150m --jobs 2", "--jobs divides the work of --for, which is not given")
	case f.during > 0 && (f.dryRun || f.noRun || f.list || f.claims || f.shard != "" || f.standIn):
		return nil, usagef("leave them out", "--for makes runs, on real data: "+
			"--dry-run, --no-run, --list, --claims, --shard and --stand-ins do not go with it")
	case f.records == "":
		return nil, nil
	}
	return record.OpenShelf(f.records)
}

// queue makes runs for the time that is given, those first that add most to the evidence.
func (a *App) queue(
	ctx context.Context, papers []string, grids []*grid.Grid, shelf *record.Shelf, f tableFlags,
) error {
	until := time.Now().Add(f.during)
	if f.jobs > 1 {
		return a.jobs(ctx, f.jobs, f.workers, until)
	}
	var list []*claims.Paper
	if f.grid == "" {
		all, err := grid.BuiltIn(configs.Files(), a.Tasks)
		if err != nil {
			return err
		}
		if list, err = grid.ReadClaims(configs.Files(), all, papers...); err != nil {
			return err
		}
	}
	r := screen.NewTables(a.Stderr, !f.verbose, f.verbose, true)
	defer r.Close()
	p, err := reproduce.NewPlan(grids, roster.Options{
		Size: f.profile, Out: f.out, Sets: f.sets, Workers: f.workers, NoWait: true,
		Log: screen.NewLogger(r, true), Progress: r, Run: r.Run(),
	})
	if err != nil {
		return err
	}
	say := func(line string) {
		fmt.Fprintf(a.Stdout, "%s [%d] %s\n", time.Now().Format("15:04:05"), os.Getpid(), line)
	}
	q, err := reproduce.NewQueue(p, list, shelf, say)
	if err != nil {
		return err
	}
	return q.Make(ctx, until)
}

// jobs starts this command line in several processes, which share its runs, and waits for them. Where ctx ends it
// interrupts them: each stops at a checkpoint.
func (a *App) jobs(ctx context.Context, n, workers int, until time.Time) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start further processes: %w", err)
	}
	if workers == 0 {
		workers = max(1, runtime.NumCPU()/n)
	}
	left := time.Until(until).String()
	args := append(without(a.args, "--jobs"), "--jobs=1", "--workers="+strconv.Itoa(workers), "--for="+left)
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			c := exec.CommandContext(ctx, self, args...)
			c.Stdout, c.Stderr = a.Stdout, a.Stderr
			c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
			errs[i] = c.Run()
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("one of %d processes: %w", n, err)
		}
	}
	return nil
}

// without returns a command line without a flag and its value.
func without(args []string, flag string) (out []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == flag:
			i++
		case !strings.HasPrefix(args[i], flag+"="):
			out = append(out, args[i])
		}
	}
	return out
}
