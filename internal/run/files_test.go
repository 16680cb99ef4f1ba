package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"privrec/internal/system"
)

// TestMain lets the test binary play the part of a process that is killed.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("PRIVREC_TEST_RUN") != "":
		_, err := toyTask(pace).Start(context.Background(),
			quiet(new(bytes.Buffer), Options{Sets: []string{"steps=60", "run.out=" + os.Getenv("PRIVREC_TEST_RUN")}, Resume: true}))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case os.Getenv("PRIVREC_TEST_LOCK") != "":
		if _, err := acquire(os.Getenv("PRIVREC_TEST_LOCK")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("held")
		io.Copy(io.Discard, os.Stdin) // until it is killed, or the test that started it is gone
	default:
		os.Exit(m.Run())
	}
}

func child(t *testing.T, env string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), env)
	return c
}

// pace says that a step is about to begin, and lets it when the process that started this
// one allows it with a byte, or does not hold it any more.
func pace(int) error {
	os.Stdout.Write([]byte{0})
	_, err := os.Stdin.Read(make([]byte, 1))
	if err == io.EOF {
		return nil
	}
	return err
}

// A run killed at random moments and resumed ends with the bytes of a run that was left
// alone. It takes one step at a time, so that each of the kills comes before its end.
func TestKillNine(t *testing.T) {
	base := t.TempDir()
	whole := filepath.Join(base, "whole")
	if out, err := child(t, "PRIVREC_TEST_RUN="+whole).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir := filepath.Join(base, "killed")
	rnd := rand.New(rand.NewPCG(1, 2))
	const most = 12
	for kills := 0; ; kills++ {
		c := child(t, "PRIVREC_TEST_RUN="+dir)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		steps, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		asks, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if kills < most {
			for range 1 + rnd.IntN(4) { // 12 times 4 is less than all 60
				asks.Read(make([]byte, 1))
				steps.Write([]byte{0})
			}
			time.Sleep(time.Duration(rnd.IntN(5000)) * time.Microsecond) // somewhere in the last of them
			c.Process.Kill()
		} else {
			steps.Close()
			io.Copy(io.Discard, asks)
		}
		err = c.Wait()
		if kills == most && err == nil {
			break
		}
		if kills == most || err == nil || c.ProcessState.Exited() {
			t.Fatalf("after %d kills: %v\n%s", kills, err, &stderr)
		}
	}
	same(t, fmt.Sprintf("after %d kills", most), readAll(t, whole), readAll(t, dir))
	left, _ := filepath.Glob(filepath.Join(dir, "*", system.TempPrefix+"*"))
	if more, _ := filepath.Glob(filepath.Join(dir, system.TempPrefix+"*")); len(left)+len(more) > 0 {
		t.Errorf("temporary files left: %v %v", left, more)
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	c := child(t, "PRIVREC_TEST_LOCK="+dir)
	pipe, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 5)
	if _, err := io.ReadFull(pipe, line); err != nil {
		t.Fatal(err)
	}
	_, err = acquire(dir)
	var usage *UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "is being written by process "+strconv.Itoa(c.Process.Pid)) {
		t.Errorf("second writer: %v", err)
	}
	c.Process.Kill()
	c.Wait()
	if _, err := os.Stat(filepath.Join(dir, "lock")); err != nil {
		t.Fatal("a killed process removed its lock file?")
	}
	l, err := acquire(dir)
	if err != nil {
		t.Fatalf("the lock of a dead process was not taken over: %v", err)
	}
	if _, err := acquire(dir); err == nil {
		t.Error("locked twice in one process")
	}
	if err := l.release(); err != nil {
		t.Error(err)
	}
	// A container is called something else after every start.
	text, _ := json.Marshal(holder{1, "another-host"})
	os.WriteFile(filepath.Join(dir, "lock"), text, 0o644)
	if l, err = acquire(dir); err != nil {
		t.Fatalf("the lock of a dead process under another host name: %v", err)
	}
	if _, err := acquire(dir); !errors.As(err, &usage) || usage.Hint() == "" || strings.Contains(usage.Hint(), "delete") {
		t.Errorf("the lock is held, deleting it is no advice: %v", err)
	}
	if err := l.release(); err != nil {
		t.Error(err)
	}
	os.WriteFile(filepath.Join(dir, "lock"), nil, 0o644)
	if l, err = acquire(dir); err != nil {
		t.Fatalf("empty lock that no process holds: %v", err)
	}
	l.release()
	os.WriteFile(filepath.Join(dir, "lock"), []byte("garbage"), 0o644)
	if _, err = acquire(dir); !errors.As(err, &usage) {
		t.Errorf("a lock that is none: %v", err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "lock")); string(b) != "garbage" {
		t.Errorf("the lock that is none became %q", b)
	}
}
