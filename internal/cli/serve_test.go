package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The command says where it answers, shows the runs, and ends well with its context.
func TestServeCommand(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	var complaints bytes.Buffer
	code := make(chan int, 1)
	go func() {
		app := &App{Stdout: in, Stderr: &complaints}
		code <- app.Execute(ctx, []string{"report", "serve", "../../testdata/runs", "--port", "0"})
		in.Close()
	}()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	address, rest, _ := strings.Cut(string(line[:n]), " ")
	if rest != "shows the runs in ../../testdata/runs; Ctrl-C ends it\n" {
		t.Errorf("it says %q", line[:n])
	}
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || r.StatusCode != 200 || !strings.Contains(string(page), "train-dipsgnn") {
		t.Errorf("%s, %v", r.Status, err)
	}
	stop()
	if got := <-code; got != exitDone {
		t.Errorf("exit code %d: %s", got, &complaints)
	}
}
