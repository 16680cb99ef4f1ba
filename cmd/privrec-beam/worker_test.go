package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// engine is what a worker sees of an engine that has no work.
type engine struct {
	fnpb.UnimplementedProvisionServiceServer
	fnpb.UnimplementedBeamFnControlServer
	fnpb.UnimplementedBeamFnLoggingServer
	at   string
	seen chan string // names of workers
	end  chan error  // how to end the connection of one; nil: well
}

func (e *engine) GetProvisionInfo(context.Context, *fnpb.GetProvisionInfoRequest) (*fnpb.GetProvisionInfoResponse, error) {
	at := &pipepb.ApiServiceDescriptor{Url: e.at}
	return &fnpb.GetProvisionInfoResponse{Info: &fnpb.ProvisionInfo{ControlEndpoint: at, LoggingEndpoint: at}}, nil
}

func (e *engine) Control(s fnpb.BeamFnControl_ControlServer) error {
	id, err := grpcx.ReadWorkerID(s.Context())
	if err != nil {
		return err
	}
	e.seen <- id
	return <-e.end
}

func (e *engine) Logging(s fnpb.BeamFnLogging_LoggingServer) error {
	for {
		if _, err := s.Recv(); err != nil {
			return nil
		}
	}
}

// A pool starts a process for each worker that is asked for, also where two have one name. It works for its
// engine until the engine ends the connection, or breaks it; then it ends too.
func TestWorkers(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{at: l.Addr().String(), seen: make(chan string), end: make(chan error)}
	s := grpc.NewServer()
	fnpb.RegisterProvisionServiceServer(s, e)
	fnpb.RegisterBeamFnControlServer(s, e)
	fnpb.RegisterBeamFnLoggingServer(s, e)
	go s.Serve(l)
	defer s.Stop()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pl, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	said, saying := io.Pipe()
	done := make(chan error)
	go func() {
		done <- servePool(ctx, pl, program, saying)
		saying.Close()
	}()
	lines := make(chan string, 100)
	go func() {
		var text bytes.Buffer
		io.Copy(&text, said)
		lines <- text.String()
	}()
	c, err := grpc.NewClient(pl.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	client, at := fnpb.NewBeamFnExternalWorkerPoolClient(c), &pipepb.ApiServiceDescriptor{Url: e.at}
	for range 3 {
		r, err := client.StartWorker(t.Context(), &fnpb.StartWorkerRequest{WorkerId: "1-1", ProvisionEndpoint: at, ControlEndpoint: at, LoggingEndpoint: at})
		if err != nil || r.Error != "" {
			t.Fatal(err, r.GetError())
		}
		if id := <-e.seen; id != "1-1" {
			t.Errorf("worker %q", id)
		}
	}
	e.end <- nil
	e.end <- errors.New("broken")
	stop() // ends the third
	if err := <-done; err != nil {
		t.Error(err)
	}
	text := <-lines
	if strings.Count(text, "has ended") != 3 || strings.Count(text, "1-1") != 6 {
		t.Errorf("the pool said\n%s", text)
	}
}

// A process that an engine starts is told so by the address that it asks, and only then.
func TestIsStarted(t *testing.T) {
	for args, want := range map[string]bool{
		"--id=1-1 --logging_endpoint=a:1 --artifact_endpoint=a:2 --provision_endpoint=a:3 --control_endpoint=a:4": true,
		"--id 1-1 -provision_endpoint a:3":    true,
		"--worker=true --id=1":                false,
		"perturb pricdsr --endpoint a:3":      false,
		"counts --input provision_endpoint.x": false,
	} {
		if got := isStarted(strings.Fields(args)); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
}

// A job that the driver does not wait for would lose its working folder.
func TestAsyncIsRefused(t *testing.T) {
	if err := runner(); err != nil {
		t.Fatal(err)
	}
	*jobopts.Async = true
	defer func() { *jobopts.Async = false }()
	if err := runner(); err == nil || !strings.Contains(err.Error(), "waits for its job") {
		t.Error(err)
	}
}

// The program of workers that an engine does not get from the driver is checked.
func TestWorkersOf(t *testing.T) {
	defer func(a, b, c string) {
		*jobopts.EnvironmentType, *jobopts.EnvironmentConfig, *jobopts.WorkerBinary = a, b, c
	}(*jobopts.EnvironmentType, *jobopts.EnvironmentConfig, *jobopts.WorkerBinary)
	set := func(kind, config string) {
		*jobopts.EnvironmentType, *jobopts.EnvironmentConfig, *jobopts.WorkerBinary = kind, config, ""
	}
	set("LOOPBACK", "")
	if sum, end, err := workersOf(); sum != "" || err != nil || *jobopts.WorkerBinary != "" {
		t.Error(sum, err)
	} else {
		end()
	}
	set("external", "")
	if _, _, err := workersOf(); err == nil || !strings.Contains(err.Error(), "--environment_config HOST:PORT") {
		t.Error(err)
	}
	set("process", "")
	var sum string
	for range 2 { // a command may run two pipelines
		var end func()
		var err error
		if sum, end, err = workersOf(); err != nil || len(sum) != 64 || !strings.Contains(*jobopts.EnvironmentConfig, `"command":"/`) {
			t.Fatal(sum, err, *jobopts.EnvironmentConfig)
		}
		program := *jobopts.WorkerBinary
		if info, err := os.Stat(program); err != nil || info.Size() > 0 {
			t.Fatal("there is no empty program to stage", err)
		}
		end()
		if _, err := os.Stat(program); err == nil {
			t.Error("the empty program was left")
		}
	}
	for program, want := range map[string]string{sum: "<nil>", "": "<nil>", strings.Repeat("0", 64): "is another program"} {
		if err := (&job{Program: program}).check(); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%.5s: %v, want %s", program, err, want)
		}
	}
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	run := workerPool(flags)
	if err := flags.Parse([]string{"--listen", "localhost:none"}); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), io.Discard, io.Discard); err == nil {
		t.Error("no such port, and no error")
	}
}
