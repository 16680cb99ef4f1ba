// Command privrec-beam does the parts of privrec that pass over whole logs where the logs are, on an
// engine that runs Apache Beam pipelines: in this process (prism), on Flink, Spark or Dataflow.
//
//	privrec-beam perturb pricdsr   perturbs histories, as privrec perturb pricdsr does
//	privrec-beam perturb features  perturbs user features, as privrec perturb features does
//	privrec-beam perturb exposure  protects slates, as privrec perturb exposure does
//	privrec-beam counts            counts items and pairs of items, for privrec train ease; with --release
//	                               what privrec train dp-ease and its like release, with noise
//	privrec-beam evaluate          ranks items for users by vectors, as privrec import --vectors does
//	privrec-beam worker            starts workers where an engine asks for them
//
// What a user's rows become is computed by the packages of privrec: a worker carries out the command
// of one machine on the users of one shard. So under one seed the bytes are the same.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"privrec/internal/run"
)

const usage = `usage:
  privrec-beam perturb pricdsr --input GLOB --output FILE --epsilon E --items M --length L [--seed S | --secure]
  privrec-beam perturb features --input GLOB --output FILE --epsilon E --category NAME=LEVELS ... [--ratings GLOB --items M]
  privrec-beam perturb exposure --input GLOB --output FILE --length T --items M (--ratio R | --replace rr --epsilon E)
  privrec-beam counts --input GLOB --output FILE --items M
  privrec-beam counts --release dp-ease --config FILE --input GLOB --output DIR --catalogue FILE [--seed S | --secure]
  privrec-beam evaluate --users GLOB --items FILE --input GLOB --truth GLOB --output FILE [--lists PREFIX]
  privrec-beam worker [--listen HOST:PORT]
every command takes --runner prism|flink|spark|dataflow, --endpoint HOST:PORT, --shards N, --work FOLDER;
a command with --help shows its flags`

// command declares the flags of a command, and returns the function that runs it.
type command func(flags *flag.FlagSet) func(ctx context.Context, stdout, stderr io.Writer) error

var commands = map[string]command{
	"perturb pricdsr":  perturbPricdsr,
	"perturb features": perturbFeatures,
	"perturb exposure": perturbExposure,
	"counts":           counts,
	"evaluate":         evaluate,
	"worker":           workerPool,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := execute(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	var bad *run.UsageError
	if errors.As(err, &bad) {
		if bad.Fix != "" {
			fmt.Fprintln(os.Stderr, "hint:", bad.Fix)
		}
		os.Exit(2)
	}
	os.Exit(1)
}

// execute runs the command of a command line. An engine starts workers as this program with other arguments, which Beam
// reads.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if isStarted(args[1:]) {
		return serveEngine(ctx, args[1:])
	}
	if isWorker(args[1:]) {
		beam.Init() // works for the engine, and does not return
		return errors.New("the worker of a pipeline has ended")
	}
	name, rest := splitCommand(args[1:])
	c, ok := commands[name]
	if !ok {
		return &run.UsageError{Message: fmt.Sprintf("no command %q", name), Fix: usage}
	}
	work := c(flag.CommandLine)
	os.Args = append([]string{args[0]}, rest...)
	flag.Parse()
	if flag.NArg() > 0 {
		return &run.UsageError{Message: fmt.Sprintf("%q is not a flag", flag.Arg(0)), Fix: usage}
	}
	if err := runner(); err != nil {
		return err
	}
	beam.Init()
	return work(ctx, stdout, stderr)
}

// isWorker reports whether an engine started this process as its worker.
func isWorker(args []string) bool {
	for _, a := range args {
		if a == "--worker" || a == "-worker" || strings.HasPrefix(a, "--worker=") {
			return true
		}
	}
	return false
}

// splitCommand returns the words before the first flag, and the rest.
func splitCommand(args []string) (name string, rest []string) {
	n := 0
	for n < len(args) && !strings.HasPrefix(args[n], "-") {
		n++
	}
	return strings.Join(args[:n], " "), args[n:]
}

// runner checks the flags that Beam itself declares.
func runner() error {
	name := "prism"
	if f := flag.Lookup("runner"); f != nil && f.Value.String() != "" {
		name = f.Value.String()
	}
	if *jobopts.Async {
		return &run.UsageError{Message: "the driver waits for its job: it gives the shards their names",
			Fix: "leave --async out"}
	}
	switch name {
	case "prism", "dataflow":
	case "flink", "spark":
		if *jobopts.Endpoint == "" {
			return &run.UsageError{Message: "--runner " + name + " needs --endpoint HOST:PORT, of its job server",
				Fix: "scripts/beam/flink.sh starts one; see docs/scale.md"}
		}
	default:
		return &run.UsageError{Message: fmt.Sprintf("no runner %q", name), Fix: "prism, flink, spark or dataflow"}
	}
	return nil
}
