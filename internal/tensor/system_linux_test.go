package tensor

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// allowed returns the processors that the calling thread may use.
func allowed(t *testing.T) string {
	text, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return strings.TrimSpace(list)
		}
	}
	t.Fatal("the system does not say which processors a thread may use")
	return ""
}

// The delay is of the calling thread and never shrinks.
func TestRunDelay(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, err := os.Stat("/proc/thread-self/schedstat")
	thread, first := runDelay()
	again, second := runDelay()
	if n := testing.AllocsPerRun(10, func() { runDelay() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if (thread == 0) != (err != nil) || thread != again || second < first {
		t.Errorf("thread %d waited %v, then thread %d %v", thread, first, again, second)
	}
}

// A thread that leaves its processor may still use all that it could use before.
func TestLeave(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := allowed(t)
	for range 20 {
		at := processor()
		leave(at)
		if got := allowed(t); got != before {
			t.Fatalf("processors %q, before %q", got, before)
		}
	}
}

func TestSecondNumber(t *testing.T) {
	for text, want := range map[string]int64{"12 345 6\n": 345, "1 0 2": 0, "0 9": 9, "": -1, "7": -1, "7 ": -1, "7 x": -1} {
		if got, ok := secondNumber([]byte(text)); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %v", text, got, ok)
		}
	}
}
