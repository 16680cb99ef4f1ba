package screen

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// Without a terminal progress is plain lines: phases, ends, and a sign of life
// every ten seconds.
func TestLines(t *testing.T) {
	var b bytes.Buffer
	r, ok := New(&b, false).(*lines)
	if !ok {
		t.Fatal("a buffer is taken for a terminal")
	}
	clock := time.Unix(0, 0)
	r.now = func() time.Time { return clock }
	r.Phase("load")
	r.Begin("epoch 1", 200)
	for range 200 {
		clock = clock.Add(100 * time.Millisecond)
		r.Add(1)
	}
	r.End("epoch 1 loss 2.5")
	NewLogger(r, false).Info("hello", "a", 1)
	want := "load\nepoch 1: 100 of 200 (50 %), about 10s left\nepoch 1: 200 of 200 (100 %)\nepoch 1 loss 2.5\nlevel=INFO msg=hello a=1\n"
	if b.String() != want {
		t.Errorf("got %q\nwant %q", &b, want)
	}
}

// Sizes are counted under the lock that lines are written under, so that none is lost between goroutines.
func TestByteLinesCountTogether(t *testing.T) {
	const goroutines, each = 8, 20_000
	var b bytes.Buffer
	r := NewBytes(&b, false).(*byteLines)
	clock := time.Unix(0, 0)
	r.now = func() time.Time { return clock }
	r.Begin("download", goroutines*each)
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				r.Add(1)
			}
		})
	}
	all.Wait()
	clock = clock.Add(lineEvery)
	r.Add(0)
	if want := "download: 160.0 kB of 160.0 kB (100 %)\n"; b.String() != want {
		t.Errorf("got %q, want %q", &b, want)
	}
}

func TestQuiet(t *testing.T) {
	var b bytes.Buffer
	r := New(&b, true)
	r.Phase("load")
	r.Begin("epoch", 2)
	r.Add(1)
	r.End("done")
	NewLogger(r, true).Info("hello")
	if b.Len() > 0 {
		t.Errorf("quiet wrote %q", &b)
	}
	NewLogger(r, true).Warn("look")
	if b.String() != "level=WARN msg=look\n" {
		t.Errorf("a warning shows as %q", &b)
	}
}

// On a terminal the bar is cleared before any other line.
func TestBar(t *testing.T) {
	var b bytes.Buffer
	r := &bar{w: &b}
	r.Add(1) // before any stretch: nothing to add to
	r.Phase("load")
	r.Begin("epoch 1", 10)
	r.Add(5)
	fmt.Fprintln(r, "a log line")
	r.Add(5)
	r.End("epoch 1 done")
	s := b.String()
	if !strings.HasPrefix(s, "load\n") || !strings.HasSuffix(s, "\repoch 1 done\n") || !strings.Contains(s, "\ra log line\n") || !strings.Contains(s, "epoch 1 ") {
		t.Errorf("%q", s)
	}
}
