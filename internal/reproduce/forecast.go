package reproduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/reproduce/costs"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Ahead is what the unfinished runs of a table take, each once: where several tables share a
// run, it is in the first of them.
type Ahead struct {
	Runs    int     `json:"runs"`         // distinct runs of the table, all of them
	Shared  int     `json:"shared"`       // of those, in a table before
	Done    int     `json:"done"`         // of the rest
	NoData  int     `json:"without_data"` // of the rest
	ToMake  int     `json:"to_make"`      // of the rest
	Seconds float64 `json:"seconds"`
	Memory  int64   `json:"memory_bytes"` // of the largest run
	Disk    int64   `json:"disk_bytes"`
	Rough   int     `json:"rough"` // runs to make whose cost is that of similar ones
	Again   int     `json:"again"` // of Done: made once more, as runs to make need their models and only records are here

	// Those of the runs to make that have the first seed of their row.
	FirstToMake  int     `json:"first_seed_to_make"`
	FirstSeconds float64 `json:"first_seed_seconds"`

	replaced, lacks []string // data sets by their printed names
}

// add adds what another table takes.
func (a *Ahead) add(b Ahead) {
	a.Runs, a.Done, a.NoData, a.ToMake, a.Rough = a.Runs+b.Runs-b.Shared, a.Done+b.Done, a.NoData+b.NoData,
		a.ToMake+b.ToMake, a.Rough+b.Rough
	a.Again += b.Again
	a.Seconds, a.Memory, a.Disk = a.Seconds+b.Seconds, max(a.Memory, b.Memory), a.Disk+b.Disk
	a.FirstToMake, a.FirstSeconds = a.FirstToMake+b.FirstToMake, a.FirstSeconds+b.FirstSeconds
}

// Forecast says for each table what its unfinished runs would take on this machine. It takes
// the recorded costs of equal steps, scaled by the speed of dense products here, and
// measures steps of runs of which nothing is recorded, for a limited time. The rest counts
// as similar runs do. It writes no file.
func (p *Plan) Forecast(ctx context.Context) (*report.Document, []Ahead, error) {
	t, err := costs.Known()
	if err != nil {
		return nil, nil, err
	}
	if p.o.Workers > 0 {
		tensor.SetWorkers(p.o.Workers)
	}
	scale := t.Speed / costs.Speed()
	if p.o.Records != nil {
		for _, r := range p.runs {
			if seconds, done, err := costs.Undisturbed(r, scale); err != nil {
				return nil, nil, err
			} else if done {
				if err := p.learn(r, seconds); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	f := &forecast{p: p, scale: scale, until: p.now().Add(measureFor), seen: map[string]bool{},
		again: map[string]bool{}, measured: map[string]costs.Cost{}}
	list := &report.Table{Name: "forecast", Title: "What the tables take", Columns: report.Columns("", "table", "runs",
		"to make", "time", "one seed", "memory MB", "disk MB", "data")}
	var all []Ahead
	var sum Ahead
	add := func(name string, a Ahead, data string) {
		seconds, first, memory, disk := any(nil), any(nil), any(nil), any(nil)
		if a.ToMake > 0 {
			seconds, memory, disk = phrase.Lasting(a.Seconds), int(a.Memory>>20), fmt.Sprintf("%.1f", float64(a.Disk)/(1<<20))
		}
		if a.FirstToMake > 0 {
			first = phrase.Lasting(a.FirstSeconds)
		}
		list.Add(name, a.Runs, a.ToMake, seconds, first, memory, disk, data)
	}
	for _, t := range p.tables {
		a, err := f.table(ctx, t)
		if err != nil {
			return nil, nil, err
		}
		var data []string
		if len(a.lacks) > 0 {
			data = append(data, strings.Join(a.lacks, ", ")+" missing")
		}
		if len(a.replaced) > 0 {
			data = append(data, strings.Join(a.replaced, ", ")+" generated (D)")
		}
		add(t.grid.FileName(p.o.Size, p.o.Sets), a, strings.Join(data, "; "))
		all = append(all, a)
		sum.add(a)
	}
	add("together", sum, "")
	d := &report.Document{Title: "What " + phrase.Plural(len(p.tables), "table") + " would take",
		Subtitle: "size " + p.o.Size, Tables: []*report.Table{list}}
	d.Facts = []report.Fact{
		{Label: "to make", Value: fmt.Sprintf("%d of %d runs", sum.ToMake, sum.Runs),
			Note: "each once; finished runs are not repeated"},
		{Label: "time", Value: "about " + phrase.Lasting(sum.Seconds),
			Note: "one run after the other, when nothing else uses the machine; a run that has begun counts in full"},
	}
	if sum.FirstToMake < sum.ToMake {
		d.Facts = append(d.Facts, report.Fact{Label: "one seed", Value: "about " + phrase.Lasting(sum.FirstSeconds),
			Note: fmt.Sprintf("of that, %s with the first seed of their row: --for makes these first",
				phrase.Plural(sum.FirstToMake, "run"))})
	}
	if s := p.o.Shard; s.Of > 0 {
		d.Facts = append(d.Facts, report.Fact{Label: "part", Value: s.String(),
			Note: "the runs of the other shards are not counted"})
	}
	if sum.NoData > 0 {
		d.Facts = append(d.Facts, report.Fact{Label: "without data", Value: phrase.Plural(sum.NoData, "run"),
			Note: "--stand-ins makes them on generated rows"})
	}
	if lacking := p.lackingData(); len(lacking.Rows) > 0 {
		d.Tables = append(d.Tables, lacking)
	}
	d.Notes = []string{
		"runs that several tables share are counted once: the time of a shared run is that of the first table",
		fmt.Sprintf("time: recorded times of equal steps, at the fastest, times %.2f, which is the speed of dense "+
			"products here against that of the machine that recorded them; memory and disk as recorded there", scale),
	}
	if sum.Again > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("the time holds %s made once more: attacks need their models, "+
			"and only their records are here", phrase.Plural(sum.Again, "finished run")))
	}
	if sum.Rough > 0 {
		d.Notes = append(d.Notes,
			fmt.Sprintf("%d of the %d runs have no recorded cost: they count as the mean of runs of the same task; "+
				"--verbose measures them", sum.Rough, sum.ToMake))
	}
	return d, all, nil
}

// forecast collects costs for Plan.Forecast.
type forecast struct {
	p        *Plan
	scale    float64 // seconds here for one of the machine that recorded
	until    time.Time
	seen     map[string]bool       // directories
	again    map[string]bool       // directories of records whose runs are made once more
	measured map[string]costs.Cost // by effort, for one epoch
}

// table adds up what the unfinished runs of a table take.
func (f *forecast) table(ctx context.Context, t *planned) (a Ahead, err error) {
	own := map[string]bool{}
	for _, r := range t.runs {
		if d := r.Entry.Data.Printed; r.Entry.Size != f.p.o.Size {
			a.replaced = phrase.AppendNew(a.replaced, d)
		} else if r.Data == r.Entry.Data.Name && grid.Absent(r.Data) != "" {
			a.lacks = phrase.AppendNew(a.lacks, d)
		}
		if own[r.Dir] {
			continue
		}
		own[r.Dir] = true
		a.Runs++
		if f.seen[r.Dir] {
			a.Shared++
			continue
		}
		f.seen[r.Dir] = true
		if _, err := r.Look(); err != nil {
			return a, err
		}
		switch {
		case r.Status == roster.Done || r.Status == roster.Failed:
			a.Done++
			continue
		case !r.In(f.p.o.Shard):
			continue
		case grid.Absent(r.Data) != "":
			a.NoData++
			continue
		case roster.Unfit(t.grid, r):
			a.Done++
			continue
		}
		c, err := f.cost(ctx, r)
		if err != nil {
			return a, err
		}
		if c.How == costs.Alike || c.How == costs.Guessed {
			a.Rough++
		}
		again, err := f.models(ctx, r)
		if err != nil {
			return a, err
		}
		a.ToMake, a.Again = a.ToMake+1, a.Again+len(again)
		for _, m := range again {
			c.Seconds, c.Memory, c.Disk = c.Seconds+m.Seconds, max(c.Memory, m.Memory), c.Disk+m.Disk
		}
		a.Seconds, a.Memory, a.Disk = a.Seconds+c.Seconds, max(a.Memory, c.Memory), a.Disk+c.Disk
		if r.Seed == r.Entry.Seeds[0] {
			a.FirstToMake, a.FirstSeconds = a.FirstToMake+1, a.FirstSeconds+c.Seconds
		}
	}
	return a, nil
}

// models returns what it takes to make the runs once more that r is about and that only records are here of: a record
// has no model. A run that several need is counted for the first of them.
func (f *forecast) models(ctx context.Context, r *roster.Run) (all []costs.Cost, err error) {
	for _, of := range r.Before {
		if !of.Kept || f.again[of.Dir] {
			continue
		}
		f.again[of.Dir] = true
		before, err := f.models(ctx, of)
		if err != nil {
			return nil, err
		}
		c, err := f.cost(ctx, of)
		if err != nil {
			return nil, err
		}
		all = append(append(all, before...), c)
	}
	return all, nil
}

// cost returns what a run takes here.
func (f *forecast) cost(ctx context.Context, r *roster.Run) (costs.Cost, error) {
	c := costs.Of(r)
	if seconds, known, err := f.p.took(r); known || err != nil {
		c.Seconds, c.How = seconds, costs.Recorded
		return c, err
	}
	if c.Seconds *= f.scale; c.How == costs.Recorded {
		return c, nil
	}
	key, epochs, err := costs.Effort(r)
	if err != nil {
		return c, err
	}
	if m, ok := f.measured[key]; ok {
		m.Seconds *= float64(epochs)
		return m, nil
	}
	left := f.until.Sub(f.p.now())
	if left <= 0 || r.Waits() {
		return c, nil
	}
	f.p.o.Progress.Phase(fmt.Sprintf("measure %s on %s", r.Method, r.Data))
	limited, stop := context.WithTimeout(ctx, left)
	defer stop()
	e, err := r.Entry.Task.Forecast(limited, r.Start)
	switch {
	case ctx.Err() != nil:
		return c, fmt.Errorf("%w: %w", run.ErrInterrupted, ctx.Err())
	case limited.Err() != nil, errors.Is(err, run.ErrNoForecast), errors.Is(err, dataset.ErrNotFound):
		return c, nil
	case err != nil:
		return c, err
	}
	c = costs.Cost{Seconds: e.Fastest, Memory: e.Bytes, Disk: c.Disk, How: costs.MeasuredNow}
	one := c
	one.Seconds /= float64(epochs)
	f.measured[key] = one
	return c, nil
}

// lackingData lists the data sets that the tables name and that are not here.
func (p *Plan) lackingData() *report.Table {
	t := &report.Table{Name: "missing", Title: "Data that are missing",
		Columns: report.Columns("", "data", "for", "where they come from")}
	var names []string
	tables := map[string][]string{}
	for _, x := range p.tables {
		for _, d := range x.grid.Data {
			if grid.Absent(d.Name) != "" {
				names = phrase.AppendNew(names, d.Name)
				tables[d.Name] = phrase.AppendNew(tables[d.Name], x.grid.Name)
			}
		}
	}
	slices.Sort(names)
	for _, n := range names {
		t.Add(n, strings.Join(tables[n], ", "), grid.Absent(n))
	}
	if len(names) > 0 {
		t.Notes = []string{"privrec data fetch NAME says what it would load, under which terms, and puts it into " +
			"$PRIVREC_DATA"}
	}
	return t
}

// measureFor is the most time that Forecast takes to measure runs of which nothing is
// recorded.
const measureFor = 15 * time.Second
