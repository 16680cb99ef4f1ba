package pages

import (
	"fmt"

	"privrec/internal/report"
)

// costs makes the page of what the runs took. It alone has times and machines.
func costs(all []*finished) *report.Page {
	t := &report.Table{Name: "costs", Title: "Runs", Sorts: true, Columns: report.Columns("%.1f", "run", "minutes",
		"peak memory (MB)", "workers", "processor", "SIMD", "attempts")}
	total := 0.0
	for _, f := range all {
		minutes, memory := 0.0, int64(0)
		var processor, simd string
		workers := 0
		for _, a := range f.manifest.Attempts {
			minutes, memory = minutes+a.Seconds/60, max(memory, a.PeakRSSBytes)
			processor, simd, workers = a.Machine.CPU, a.Build.SIMD, a.Machine.Workers
		}
		total += minutes
		t.Add(report.Link{Text: f.name, To: f.page()}, minutes, float64(memory)/1e6, workers, processor, simd,
			len(f.manifest.Attempts))
	}
	return &report.Page{
		Title: "What the runs took", Trail: above(""), Subtitle: "times and machines, which are on this page alone",
		Conclusion: fmt.Sprintf("%s took %.1f hours together.", things(len(all), "run", "runs"), total/60),
		Parts:      []report.Part{t},
	}
}
