package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"

	"privrec/internal/perturb"
	"privrec/internal/run"
)

// Engines start this program as their worker in one of two ways. With --environment_type PROCESS they run it with the
// addresses that a worker needs. With EXTERNAL they ask "privrec-beam worker", which runs on every machine of the
// engine and starts such a process. A worker is a process of its own in both, and its program is the one that is there:
// none is sent.

// startFlag tells a process that an engine started it as a worker. Every engine sets it.
const startFlag = "provision_endpoint"

// isStarted reports whether an engine started this process with the addresses that a worker needs.
func isStarted(args []string) bool {
	for _, a := range args {
		if name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "="); name == startFlag {
			return true
		}
	}
	return false
}

// serveEngine works for the engine that started this process. It returns when the engine ends the
// connection, and fails when that breaks.
func serveEngine(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	at := map[string]*string{}
	for _, name := range []string{"id", startFlag, "control_endpoint", "logging_endpoint", "artifact_endpoint",
		"semi_persist_dir"} {
		at[name] = flags.String(name, "", "given by the engine")
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	beam.Init() // takes no flag, and so does not take over
	ctx = grpcx.WriteWorkerID(ctx, *at["id"])
	info, err := tools.ProvisionInfo(ctx, *at[startFlag])
	if err != nil {
		return fmt.Errorf("the engine at %s does not say what to do: %w", *at[startFlag], err)
	}
	for name, said := range map[string]string{"control_endpoint": info.GetControlEndpoint().GetUrl(),
		"logging_endpoint": info.GetLoggingEndpoint().GetUrl()} {
		if said != "" {
			*at[name] = said
		}
		if *at[name] == "" {
			return fmt.Errorf("the engine at %s gave no %s", *at[startFlag], name)
		}
	}
	text, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return err
	}
	var options runtime.RawOptionsWrapper
	if err := json.Unmarshal([]byte(text), &options); err != nil {
		return fmt.Errorf("options of the pipeline: %w", err)
	}
	runtime.GlobalOptions.Import(options.Options)
	return harness.MainWithOptions(ctx, *at["logging_endpoint"], *at["control_endpoint"], harness.Options{
		StatusEndpoint: info.GetStatusEndpoint().GetUrl(), RunnerCapabilities: info.GetRunnerCapabilities(),
	})
}

// workerPool returns the command that starts workers when an engine asks for them.
func workerPool(flags *flag.FlagSet) func(ctx context.Context, stdout, stderr io.Writer) error {
	at := flags.String("listen", "localhost:50000",
		"HOST:PORT at which the engine of this machine asks for workers; whom it lets in can start workers here")
	return func(ctx context.Context, stdout, stderr io.Writer) error {
		l, err := net.Listen("tcp", *at)
		if err != nil {
			return &run.UsageError{Message: err.Error(), Fix: "--listen HOST:PORT takes another"}
		}
		program, err := os.Executable()
		if err != nil {
			return err
		}
		fmt.Fprintf(stderr, "starts workers that are asked for at %s\n", l.Addr())
		return servePool(ctx, l, program, stderr)
	}
}

// servePool starts workers until the context ends, and ends those that still run then.
func servePool(ctx context.Context, l net.Listener, program string, log io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	s, p := grpc.NewServer(), &pool{ctx: ctx, program: program, log: log}
	fnpb.RegisterBeamFnExternalWorkerPoolServer(s, p)
	ended := make(chan struct{})
	go func() {
		<-ctx.Done()
		s.Stop()
		close(ended)
	}()
	err := s.Serve(l)
	stop()
	<-ended
	p.running.Wait()
	if errors.Is(err, grpc.ErrServerStopped) {
		err = nil
	}
	return err
}

// pool starts worker processes. Their names need not differ: two engines, or two task managers of one,
// may use the same.
type pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	ctx     context.Context
	program string
	log     io.Writer
	mu      sync.Mutex
	running sync.WaitGroup
}

func (p *pool) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.log, format+"\n", args...)
}

// StartWorker starts a process that works for the caller.
func (p *pool) StartWorker(_ context.Context, r *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	c := exec.CommandContext(p.ctx, p.program, "--id="+r.GetWorkerId(), "--"+startFlag+"="+
		r.GetProvisionEndpoint().GetUrl(),
		"--control_endpoint="+r.GetControlEndpoint().GetUrl(), "--logging_endpoint="+r.GetLoggingEndpoint().GetUrl())
	c.Stderr = os.Stderr
	p.mu.Lock()
	err := p.ctx.Err()
	if err == nil {
		if err = c.Start(); err == nil {
			p.running.Add(1)
		}
	}
	p.mu.Unlock()
	if err != nil {
		return &fnpb.StartWorkerResponse{Error: err.Error()}, nil
	}
	p.say("worker %s: process %d", r.GetWorkerId(), c.Process.Pid)
	go func() {
		defer p.running.Done()
		err := c.Wait()
		p.say("worker %s: process %d has ended (%v)", r.GetWorkerId(), c.Process.Pid, err)
	}()
	return &fnpb.StartWorkerResponse{}, nil
}

// StopWorker does nothing: a worker ends when its engine ends the connection to it, or breaks it.
func (p *pool) StopWorker(context.Context, *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	return &fnpb.StopWorkerResponse{}, nil
}

// ownSum is the SHA-256 of this program.
var ownSum = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	return perturb.FileSum(path)
})

// workersOf completes the flags of Beam that say where workers run. It returns the SHA-256 that their program
// must have; "" where the engine gets the program from the driver. end removes a temporary file.
func workersOf() (sum string, end func(), err error) {
	end = func() {}
	kind := strings.ToUpper(*jobopts.EnvironmentType)
	if kind != "PROCESS" && kind != "EXTERNAL" {
		return "", end, nil
	}
	if *jobopts.EnvironmentConfig == "" {
		if kind == "EXTERNAL" {
			return "", end, &run.UsageError{Message: "--environment_type EXTERNAL needs --environment_config HOST:PORT",
				Fix: "privrec-beam worker on every machine of the engine says at which it starts workers"}
		}
		path, err := os.Executable()
		if err != nil {
			return "", end, err
		}
		b, err := json.Marshal(map[string]string{"command": path})
		if err != nil {
			return "", end, err
		}
		*jobopts.EnvironmentConfig = string(b)
	}
	if *jobopts.WorkerBinary == "" { // Beam would send a program that no such worker asks for
		f, err := os.CreateTemp("", "privrec-beam-none-*")
		if err != nil {
			return "", end, err
		}
		f.Close()
		*jobopts.WorkerBinary = f.Name()
		end = func() { // the next pipeline of this process makes another one
			os.Remove(f.Name())
			*jobopts.WorkerBinary = ""
		}
	}
	sum, err = ownSum()
	return sum, end, err
}

// check fails if this worker's program is not that of the driver.
func (j *job) check() error {
	if j.Program == "" {
		return nil
	}
	own, err := ownSum()
	if err == nil && own != j.Program {
		path, _ := os.Executable()
		err = fmt.Errorf("the worker %s is another program (sha256 %.12s) than the driver (%.12s): copy that to all "+
			"machines", path, own, j.Program)
	}
	return err
}
