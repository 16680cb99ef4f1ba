package doctor

import (
	"fmt"
	"io"
	"math"
	"strings"

	"privrec/internal/fetch"
	"privrec/internal/report"
)

// Text writes the report for a terminal of 80 columns.
func (r *Report) Text(w io.Writer) error {
	d := &report.Document{Title: "privrec list machine: all is well",
		Subtitle: fmt.Sprintf("privrec %s, %s %s, %s", r.Build.Version, r.Build.Go, r.Machine.System, r.Build.Float)}
	if !r.OK {
		d.Title = "privrec list machine: a self-test failed"
	}
	d.Facts = append(r.Machine.facts(), placeFacts(r.Places)...)
	d.Tables = append(d.Tables, testTable(r.Tests), setTable(r.Sets))
	d.Notes = []string{fmt.Sprintf("examined in %.1f s", r.Seconds)}
	return d.Text(w)
}

func (m Machine) facts() []report.Fact {
	cpu := m.CPU
	if cpu == "" {
		cpu = "unknown processor"
	}
	memory := "unknown"
	if m.MemoryBytes > 0 {
		memory = fetch.Size(m.MemoryBytes)
		if m.Available > 0 {
			memory += ", " + fetch.Size(m.Available) + " available"
		}
	}
	if m.MemoryLimit > 0 {
		memory += ", limited to " + fetch.Size(m.MemoryLimit)
	}
	kernels := report.Fact{Label: "kernels", Value: m.SIMD}
	if m.SIMD == "off" {
		kernels.Value = "plain Go, several times slower than AVX2"
	}
	if m.Forced != "" {
		kernels.Note = "PRIVREC_SIMD=" + m.Forced
	}
	threads := report.Fact{Label: "threads", Value: fmt.Sprintf("%d of %s", m.Threads, count(m.Cores, "core"))}
	if m.busy() {
		threads.Note = fmt.Sprintf("BUSY: %.0f threads want to run; speeds are too low", math.Round(m.Load))
	}
	return []report.Fact{
		{Label: "processor", Value: cpu},
		threads,
		{Label: "memory", Value: memory},
		kernels,
	}
}

// busy reports whether other processes take a good part of the machine.
func (m Machine) busy() bool { return m.Load > 0.5+float64(m.Cores) }

func placeFacts(list []Place) []report.Fact {
	var out []report.Fact
	for _, p := range list {
		f := report.Fact{Label: p.Use, Value: p.Path}
		switch {
		case p.Path == "" && p.Use == "data":
			f.Value = "none: PRIVREC_DATA is not set"
		case p.Path == "":
			f.Value = "none"
		case p.Use == "data" && !p.Exists:
			f.Note = "no such folder"
		case p.Error != "":
			f.Note = "CANNOT BE WRITTEN: " + p.Error
		default:
			var notes []string
			if p.Free > 0 {
				notes = append(notes, fetch.Size(p.Free)+" free")
			}
			if !p.Exists {
				notes = append(notes, "made when needed")
			}
			f.Note = strings.Join(notes, ", ")
		}
		out = append(out, f)
	}
	return out
}

func testTable(list []Test) *report.Table {
	t := &report.Table{Name: "self-tests", Title: "Self-tests", Columns: report.Columns("%.3f", "kernels", "verdict",
		"cases", "worst error")}
	for _, x := range list {
		verdict := "ok"
		if !x.OK {
			verdict = "FAILED"
			t.Notes = append(t.Notes, x.Name+": "+x.Fault)
		}
		worst := any(x.Worst)
		if x.Worst == 0 || math.IsInf(x.Worst, 0) {
			worst = nil
		}
		t.Add(x.Name, verdict, x.Cases, worst)
	}
	t.Notes = append(t.Notes, "against float64 loops and recorded values; an error may be at most 1")
	return t
}

// setTable lists the sets that are there and names those that are not.
func setTable(list []Set) *report.Table {
	t := &report.Table{Name: "data", Title: "Data sets", Columns: report.Columns("", "name", "state", "size",
		"receipt")}
	var missing []string
	unread := false
	for _, s := range list {
		if s.State == Missing {
			missing = append(missing, s.Name)
			continue
		}
		unread = unread || s.State == Unread
		t.Add(s.Name, s.State, fetch.Size(s.Bytes), s.Receipt)
		if s.Problem != "" {
			t.Notes = append(t.Notes, s.Name+": "+s.Problem)
		}
	}
	if len(t.Rows) == 0 {
		t.Columns = report.Columns("", "name")
		t.Add("none; the stand-ins need no files")
	}
	if unread {
		t.Notes = append(t.Notes, "large sets are not read here: privrec data verify NAME does")
	}
	if len(missing) > 0 {
		t.Notes = append(t.Notes, wrap("missing: "+strings.Join(missing, ", ")+"; privrec data fetch NAME", 78)...)
	}
	return t
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// wrap breaks text at spaces so that no line is longer than width, if no word is.
func wrap(text string, width int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			out, line = append(out, line), "  "+word
			continue
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(out, line)
}
