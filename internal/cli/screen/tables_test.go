package screen

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
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
	runs := []roster.Run{
		{Method: "One", Data: "d", Seed: 1, Status: roster.Done, Score: "20.00 (D)"},
		{Method: "One", Data: "d", Seed: 2, Status: roster.Running},
		{Method: "Two", Data: "d", Seed: 1, Status: roster.Failed},
		{Method: "Two", Data: "d", Seed: 2, Status: roster.ToDo},
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

// Off a terminal every run of a table is announced once, and those of several tables are not.
func TestTableLines(t *testing.T) {
	for several, want := range map[bool]string{
		false: "run 1 of 1: One on d, seed 7\n",
		true:  "table 1 of 2\n",
	} {
		var b bytes.Buffer
		r := NewTables(&b, false, false, several)
		runs := []roster.Run{{Method: "One", Data: "d", Seed: 7}}
		r.Open("table 1 of 2")
		r.Watch("table", runs, 0)
		r.Watch("table", runs, 0)
		r.Watch("table", runs, -1)
		r.Close()
		if b.String() != want {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
}

// A run that is not followed gives a sign of life every ten seconds in all that it does, and
// says all that it has to where that is asked for.
func TestPulse(t *testing.T) {
	follow := func(p run.Progress, tick func()) {
		p.Phase("load")
		for range 3 {
			p.Begin("epoch", 10)
			for range 10 {
				tick()
				p.Add(1)
			}
			p.End("epoch over")
		}
	}
	runs := []roster.Run{{Method: "One", Data: "d", Seed: 7}}
	var b bytes.Buffer
	l := NewTables(&b, false, false, true).(*tableLines)
	clock := time.Unix(0, 0)
	l.pulse.now = func() time.Time { return clock }
	l.Watch("table", runs, 0)
	follow(l.Run(), func() { clock = clock.Add(700 * time.Millisecond) })
	want := "run 1 of 1: One on d, seed 7: epoch, 5 of 10 (50 %)\n" // after 10.5 s of 21
	if b.String() != want+strings.Replace(want, "5 of 10 (50 %)", "10 of 10 (100 %)", 1) {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	v := NewTables(&b, false, true, true)
	follow(v.Run(), func() {})
	if b.String() != "load\nepoch over\nepoch over\nepoch over\n" {
		t.Errorf("verbose: %q", b.String())
	}
	b.Reset()
	q := NewTables(&b, true, false, true)
	q.Open("table")
	follow(q.Run(), func() {})
	if b.Len() > 0 {
		t.Errorf("quiet: %q", b.String())
	}
}
