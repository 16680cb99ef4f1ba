package tune

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Result holds a search that has ended.
type Result struct {
	study *Study
	out   string
	tasks []searched
	doc   *report.Document
}

// searched holds a task with its trials.
type searched struct {
	*Task
	lines []Line
	best  *Line // nil: no trial of the last rung was done
	file  string
	price *Price // nil unless the rows are private
	data  string // that chose
}

// Files returns the written files of winning configurations.
func (r *Result) Files() (files []string) {
	for _, t := range r.tasks {
		if t.file != "" {
			files = append(files, t.file)
		}
	}
	return files
}

// Best returns the best trial of a task, false if none succeeded.
func (r *Result) Best(task string) (Line, bool) {
	for _, t := range r.tasks {
		if t.Name == task && t.best != nil {
			return *t.best, true
		}
	}
	return Line{}, false
}

// Err returns an error if a task has no winner.
func (r *Result) Err() error {
	for _, t := range r.tasks {
		if t.best == nil {
			return fmt.Errorf("%s: every trial failed, the last one by: %s", t.Name, t.lines[len(t.lines)-1].Error)
		}
	}
	return nil
}

// Text writes the result for a terminal. It implements run.Result.
func (r *Result) Text(w io.Writer) error { return r.doc.Text(w) }

// MarshalJSON writes the result as it is shown.
func (r *Result) MarshalJSON() ([]byte, error) { return r.doc.MarshalJSON() }

// JSONForms returns the types that MarshalJSON writes.
func (*Result) JSONForms() []any { return []any{&report.Document{}} }

// finish finds the winners, and writes them and the result.
func (r *Result) finish() error {
	for i := range r.tasks {
		t := &r.tasks[i]
		last := t.lines[len(t.lines)-1].Rung
		for k, l := range t.lines {
			if l.Rung == last && l.Status == done && (t.best == nil || better(l, *t.best)) {
				t.best = &t.lines[k]
			}
		}
		if t.best == nil {
			continue
		}
		x := trial{task: t.Task, at: rung{resource: t.best.Resource},
			candidate: candidate{t.best.Candidate, t.best.Settings}}
		o, err := experiment.ReadOutcome(x.dir(r.out))
		if err != nil {
			return err
		}
		t.data = o.Data.Named()
		if r.study.Rows == Private {
			if t.price, err = r.study.price(t.Task, t.lines, *t.best, r.out); err != nil {
				return err
			}
		}
		if err := r.keep(t, x, o.Selected); err != nil {
			return err
		}
	}
	r.doc = r.document()
	return system.WriteFile(filepath.Join(r.out, "result.txt"), r.doc.Text)
}

// final returns the configuration file of a run under a setting. It fails if the file would be read as another
// configuration.
func (s *Study) final(t *Task, x trial, epoch int) ([]byte, error) {
	sets := slices.Concat(s.Set, t.Set, x.sets(t))
	if x.at.resource > 0 {
		sets = append(sets, fmt.Sprintf("%s=%d", s.Halving.Key, x.at.resource))
	}
	for _, f := range t.Final {
		sets = append(sets, strings.ReplaceAll(f, epochWord, fmt.Sprint(epoch)))
	}
	p, err := t.task.Plan(run.Options{Config: t.Config, Sets: append(sets, fmt.Sprintf("run.seed=%d", s.Seed))})
	if err != nil {
		return nil, fmt.Errorf("the winning configuration of %s: %w", t.Name, err)
	}
	text, err := p.Config()
	if err != nil {
		return nil, fmt.Errorf("the winning configuration of %s: %w", t.Name, err)
	}
	again, err := t.task.Plan(run.Options{Config: t.Name + ".yaml", Text: text})
	if err == nil && again.Hash != p.Hash {
		err = fmt.Errorf("the winning configuration of %s reads as another one", t.Name)
	}
	return text, err
}

// keep writes the winning configuration.
func (r *Result) keep(t *searched, x trial, epoch int) error {
	s := r.study
	text, err := s.final(t.Task, x, epoch)
	if err != nil {
		return err
	}
	t.file = filepath.Join(r.out, "best", t.Name+".yaml")
	if err := os.MkdirAll(filepath.Dir(t.file), 0o777); err != nil {
		return err
	}
	return system.WriteFile(t.file, func(w io.Writer) error {
		where := fmt.Sprintf("# %s: the best of %d trials by %s on validation rows of %s, %s.\n# Study %s, seed %d, "+
			"trial %d: %s\n",
			t.Task.Task, len(t.lines), s.Objective, t.data, r.value(*t.best), s.Name, s.Seed, t.best.Trial,
			settings(*t.best))
		if s.Rows == Private { // the file may be released, but not how many trials there were
			where = fmt.Sprintf("# %s: the best of a random number of trials, %d on average, by %s on private "+
				"validation rows of %s, %s.\n# Study %s: %s\n",
				t.Task.Task, s.Trials, s.Objective, t.data, r.value(*t.best), s.Name, settings(*t.best))
		}
		_, err := fmt.Fprintf(w, "%s%s", where, text)
		return err
	})
}

// value returns a score as it is shown: in percent, or as the noisy sum over users.
func (r *Result) value(l Line) string {
	if r.study.Rows == Private {
		return fmt.Sprintf("%.1f (sum over users, with noise)", l.Score)
	}
	return fmt.Sprintf("%.2f %%", 100*l.Score)
}

// settings returns the changes of a trial in one line.
func settings(l Line) string {
	if len(l.Settings) == 0 {
		return "the configuration as it stands"
	}
	var words []string
	for _, k := range slices.Sorted(maps.Keys(l.Settings)) {
		words = append(words, k+"="+l.Settings[k])
	}
	return strings.Join(words, " ")
}

// document returns the winners and the trials as a report.
func (r *Result) document() *report.Document {
	s := r.study
	d := &report.Document{Title: "Settings of study " + s.Name, Notes: []string{
		"validation rows are measured; no test row was opened"}}
	d.Subtitle = fmt.Sprintf("%s search, seed %d, %d trials a task, by %s", s.Search, s.Seed, s.Trials, s.Objective)
	if s.About != "" {
		d.Notes = append(d.Notes, s.About)
	}
	if slices.ContainsFunc(s.Tasks, func(t Task) bool { return t.task.Noisy }) {
		d.Notes = append(d.Notes, run.Remade)
	}
	best := &report.Table{Name: "best", Title: "The best of each task's trials", Columns: []report.Column{
		{Name: "task"}, {Name: "trials"}, {Name: "failed"}, {Name: "as it stands"}, {Name: "best"}, {Name: "trial"},
		{Name: "setting"}}}
	all := &report.Table{Name: "trials", Title: "All trials, as the log has them", Columns: []report.Column{
		{Name: "trial"}, {Name: "task"}, {Name: "rung"}, {Name: s.Objective}, {Name: "epoch"}, {Name: "setting"}}}
	for _, t := range r.tasks {
		lost, stands := 0, "-"
		for _, l := range t.lines {
			score, epoch := r.short(l), "-"
			if l.Status == failed {
				lost++
				score = "failed: " + oneLine(l.Error)
			} else if len(l.Settings) == 0 && s.Rows == Public {
				stands = score
			}
			if l.Epoch > 0 {
				epoch = fmt.Sprint(l.Epoch)
			}
			all.Add(l.Trial, t.Name, l.Rung+1, score, epoch, settings(l))
		}
		if t.best == nil {
			best.Add(t.Name, len(t.lines), lost, stands, "-", "-", "every trial failed")
			continue
		}
		best.Add(t.Name, len(t.lines), lost, stands, r.short(*t.best), t.best.Trial, settings(*t.best))
		d.Notes = append(d.Notes, r.cost(t)...)
	}
	if s.Rows == Private && len(r.tasks) > 1 {
		d.Notes = append(d.Notes,
			"each epsilon is for one task's choice alone: where the winners of several tasks are released, their "+
				"epsilons and their deltas add up")
	}
	best.Notes = append(best.Notes, r.unit())
	d.Tables = []*report.Table{best, all}
	return d
}

// unit returns words for the unit of scores.
func (r *Result) unit() string {
	if r.study.Rows == Private {
		return "scores are sums over users, with noise; only the best trial of each task may be released, not the " +
			"log, the other trials or their number, and as if the study's seed were unknown: it tells all noise and " +
			"that number"
	}
	return "values in percent; the best value is a little too high, since it is the largest of several"
}

func (r *Result) short(l Line) string {
	if r.study.Rows == Private {
		return fmt.Sprintf("%.1f", l.Score)
	}
	return fmt.Sprintf("%.2f", 100*l.Score)
}

// cost returns notes on what the choice adds to the epsilon of a run.
func (r *Result) cost(t searched) []string {
	if t.price != nil {
		return t.price.words(t.Task, r.study)
	}
	x := trial{task: t.Task, at: rung{resource: t.best.Resource},
		candidate: candidate{t.best.Candidate, t.best.Settings}}
	a, err := experiment.ReadAccount(x.dir(r.out))
	if err != nil || a == nil || math.IsInf(float64(a.Total), 1) {
		return nil // nothing is guaranteed that a choice could weaken
	}
	return []string{fmt.Sprintf("%s: epsilon %s of a single run, of its worst unit; the choice adds nothing for "+
		"users of other data, since the rows that chose, %s, are public to the study. Users of these rows get no "+
		"guarantee from it", t.Name, a.Total, t.data)}
}

// oneLine joins the lines of an error.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c == '\n' || c == '\r' }), "; ")
}
