package cli

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"privrec/internal/reproduce"
)

// screen plays what a terminal would show of the live table: lines, cursor up and
// clearing to the end.
func screen(t *testing.T, out string) []string {
	t.Helper()
	up := regexp.MustCompile(`^\x1b\[(\d+)A\x1b\[J`)
	var lines []string
	for out != "" {
		if m := up.FindStringSubmatch(out); m != nil {
			n, _ := strconv.Atoi(m[1])
			if n > len(lines) {
				t.Fatalf("%d lines up from %d", n, len(lines))
			}
			lines, out = lines[:len(lines)-n], out[len(m[0]):]
			continue
		}
		line, rest, ok := strings.Cut(out, "\n")
		if !ok {
			t.Fatalf("an unfinished line %q", out)
		}
		lines, out = append(lines, line), rest
	}
	return lines
}

// The live table stands in place, lets log lines through above it, keeps to the
// size of the screen and leaves nothing behind.
func TestLiveTable(t *testing.T) {
	var b bytes.Buffer
	width, height := 60, 20
	clock := time.Time{}
	v := &live{w: &b, size: func() (int, int) { return width, height }, now: func() time.Time { return clock }}
	v.Phase("measure something")
	runs := []reproduce.Run{
		{Method: "One", Data: "d", Seed: 1, Status: reproduce.Done, Score: "20.00 (D)"},
		{Method: "One", Data: "d", Seed: 2, Status: reproduce.Running},
		{Method: "Two", Data: "d", Seed: 1, Status: reproduce.Failed},
		{Method: "Two", Data: "d", Seed: 2, Status: reproduce.ToDo},
	}
	v.Watch("table", runs, 1)
	v.Begin("epoch 1/2", 10)
	clock = clock.Add(time.Second)
	v.Add(5)
	v.Write([]byte("a warning\n"))
	want := []string{
		"measure something", "a warning", "table: 1 of 4 runs done, 1s",
		"  One on d  1: 20.00 (D)       2: epoch 1/2 50 %",
		"  Two on d  1: failed          2: to do", "",
	}
	if got := screen(t, b.String()); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	v.End("epoch 1 over")
	if got := screen(t, b.String()); got[len(got)-1] != "  epoch 1 over" {
		t.Errorf("%q", got)
	}
	width = 20
	v.End("a summary that is too long for the screen")
	for _, l := range screen(t, b.String())[2:] {
		if utf8.RuneCountInString(l) > width {
			t.Errorf("%q is wider than %d", l, width)
		}
	}
	height = 4
	v.Watch("table", runs, 3)
	if got := screen(t, b.String()); len(got) != 2+3 || !strings.HasPrefix(got[3], "  Two") {
		t.Errorf("on 4 lines: %q", got)
	}
	v.Close()
	if got := screen(t, b.String()); strings.Join(got, "|") != "measure something|a warning" {
		t.Errorf("left behind: %q", got)
	}
}

// Off a terminal every run is announced once.
func TestTableLines(t *testing.T) {
	var b bytes.Buffer
	r := newTableReporter(&b, false)
	runs := []reproduce.Run{{Method: "One", Data: "d", Seed: 7}}
	r.Watch("table", runs, 0)
	r.Watch("table", runs, 0)
	r.Watch("table", runs, -1)
	r.Close()
	if b.String() != "run 1 of 1: One on d, seed 7\n" {
		t.Errorf("%q", b.String())
	}
}
