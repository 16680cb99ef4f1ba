package forget

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/baseline"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Request asks for a run without some users.
type Request struct {
	Run   string   // finished run
	Users []string // ids, as the data have them
	Out   string   // directory of the run to make
	// Again allows another release where the run made one: users who stay are then in both.
	Again bool
	// Approximate corrects what the run kept, within an error that the certificate states. It needs a run that keeps
	// its matrices, as train ease does with model.keep.
	Approximate bool

	Workers  int
	Log      *slog.Logger
	Progress run.Progress
}

// source is a finished run and what is needed to train it again.
type source struct {
	dir      string
	task     run.Task
	manifest run.Manifest
	config   []byte
}

// open reads a finished run that one of the tasks made.
func open(tasks []run.Task, dir string) (*source, error) {
	m, err := run.ReadRun(dir, "name a run directory, as privrec train writes them")
	if err != nil {
		return nil, err
	}
	if m.Status != run.StatusDone {
		return nil, &run.UsageError{Message: fmt.Sprintf("the run in %s is not finished: %s", dir, m.Status),
			Fix: "finish it with --resume"}
	}
	s := &source{dir: dir, manifest: m}
	at := slices.IndexFunc(tasks, func(t run.Task) bool { return t.String() == m.Task })
	if at < 0 {
		return nil, &run.UsageError{
			Message: fmt.Sprintf("%s is a run of %q, which this program does not know", dir, m.Task)}
	}
	if s.task = tasks[at]; s.task.Verb != "train" {
		return nil, &run.UsageError{Message: fmt.Sprintf("%s is a run of %s, which trains nothing", dir, m.Task),
			Fix: "name a run of privrec train"}
	}
	s.config, err = system.ReadFile(filepath.Join(dir, "config.yaml"), system.MostOfRun)
	return s, err
}

// options returns the options of a run with the configuration of s without some users, in another directory.
func (s *source) options(gone dataset.Forgotten, out string, workers int) (run.Options, error) {
	dir, err := json.Marshal(out) // YAML too
	if err != nil {
		return run.Options{}, err
	}
	o := run.Options{Config: filepath.Join(s.dir, "config.yaml"), Text: s.config, Stdout: io.Discard,
		Log: slog.New(slog.DiscardHandler), Progress: run.Silent{},
		Sets: []string{"run.out=" + string(dir), fmt.Sprint("run.workers=", workers)}}
	if len(gone) > 0 {
		list, err := json.Marshal(gone)
		if err != nil {
			return run.Options{}, err
		}
		o.Sets = append(o.Sets, "run.forgotten="+string(list))
	}
	return o, nil
}

// data returns the name of the run's data set.
func (s *source) data() (string, error) {
	var m struct {
		Data struct{ Name string }
	}
	err := run.ReadMetrics(s.dir, &m)
	return m.Data.Name, err
}

// released reports whether the run released something with noise.
func (s *source) released() (bool, error) {
	x, err := (privacy.Reading{}).Extent(filepath.Join(s.dir, run.LedgerName))
	if errors.Is(err, privacy.ErrNoKey) {
		return true, nil // a ledger under a key is one of releases
	}
	return x.Releases > 0, err
}

// Make makes the run without the users of a request, and its certificate. The request is kept in the configuration of
// the new run before anything is trained: the same request goes on with a run that was stopped, and shows one that is
// done. It fails for users whom the data do not have, and for a run that released something unless r.Again is set.
func Make(ctx context.Context, tasks []run.Task, r Request) (*Certificate, error) {
	if len(r.Users) == 0 {
		return nil, &run.UsageError{Message: "nobody is to be forgotten", Fix: "name users with --user or --file"}
	}
	s, err := open(tasks, r.Run)
	if err != nil {
		return nil, err
	}
	if system.SamePath(r.Run, r.Out) {
		return nil, &run.UsageError{Message: "--out is the run itself", Fix: "name another directory"}
	}
	c := &Certificate{Version: 1, Task: s.task.String(), Before: s.manifest.Forgotten, How: Trained,
		Forgotten: dataset.Forgotten(nil).With(r.Users...), Data: s.manifest.Data}
	for k, is := range c.Before.Among(r.Users) {
		if is {
			return nil, &run.UsageError{Message: fmt.Sprintf("the run in %s has forgotten user %s already", s.dir,
				dataset.Quote([]byte(r.Users[k]))), Fix: "leave that user out"}
		}
	}
	if c.Releases, err = s.released(); err != nil {
		return nil, err
	}
	if c.Releases && !r.Again {
		return nil, releasedError(s.dir)
	}
	o, err := s.options(c.Before.With(r.Users...), r.Out, r.Workers)
	if err != nil {
		return nil, err
	}
	o.Found = func(ids []string) error {
		if err := lacks(s.dir, r.Users, ids); err != nil {
			return err
		}
		return s.sameData(r.Out)
	}
	o.Log, o.Progress = r.Log, r.Progress
	p, err := s.task.Plan(o)
	if err != nil {
		return nil, err
	}
	o.Resume = p.State != run.StateNew
	if p.State == run.StateDone { // by an earlier request, which may have been stopped before it wrote this
		if was, err := ReadCertificate(r.Out); err == nil {
			return was, nil
		}
	}
	if c.How, err = s.way(ctx, r, o, c.Releases); err != nil {
		return nil, err
	}
	if err := s.start(ctx, o, c.How); err != nil {
		return nil, err
	}
	m, err := run.ReadManifest(r.Out)
	if err != nil {
		return nil, err
	}
	if c.Was, err = side(s.dir, s.manifest); err != nil {
		return nil, err
	}
	if c.Now, err = side(r.Out, m); err != nil {
		return nil, err
	}
	for _, note := range slices.Backward(m.Notes) { // the first one is of the program that began the run
		if how, ok := strings.CutPrefix(note, noteOf); ok {
			c.How = How(how)
		} else if strings.HasPrefix(note, baseline.CorrectedNote) {
			c.Error = note
		}
	}
	return c, c.write(r.Out)
}

// noteOf begins the note in a manifest that says how the run was made.
const noteOf = "users were forgotten, "

// start makes the run in one of the ways, or from the start where what the old run kept is of no use.
func (s *source) start(ctx context.Context, o run.Options, how How) error {
	o.Notes = []string{noteOf + string(how)}
	if how != Trained {
		o.From, o.Corrects = s.dir, how == Corrected
	}
	_, err := s.task.Start(ctx, o)
	if how == Counted && errors.Is(err, baseline.ErrOthersChange) {
		o.From, o.Notes[0] = "", noteOf+string(Trained)
		_, err = s.task.Start(ctx, o)
	}
	return err
}

// way returns the cheapest way to make the run without the users.
func (s *source) way(ctx context.Context, r Request, o run.Options, releases bool) (How, error) {
	_, err := os.Stat(filepath.Join(s.dir, baseline.KeptFile))
	switch {
	case err == nil && r.Approximate:
		return Corrected, nil
	case err == nil:
		return Counted, nil
	case r.Approximate:
		return "", &run.UsageError{
			Message: fmt.Sprintf("the run in %s kept no matrices that could be corrected", s.dir),
			Fix:     "leave --approximate out; train ease keeps them with --set model.keep=true"}
	case releases:
		return Trained, nil
	}
	o.Found = func(ids []string) error { return lacks(s.dir, r.Users, ids) } // there is no run yet
	stay, err := s.rowsStay(ctx, o)
	if err != nil || !stay {
		return Trained, err
	}
	return Unchanged, nil
}

// rowsStay reports whether the rows after the recipe are the same without the forgotten users, and the run has a last
// checkpoint to begin with. It returns what o.Found does of users whom the data lack.
func (s *source) rowsStay(ctx context.Context, o run.Options) (bool, error) {
	if !run.Continues(s.dir) {
		return false, nil
	}
	now, err := s.task.Rows(ctx, o)
	if err != nil {
		return false, err
	}
	before, err := s.options(s.manifest.Forgotten, s.dir, 0)
	if err != nil {
		return false, err
	}
	was, err := s.task.Rows(ctx, before)
	return was == now, err
}

// releasedError explains why a run with releases is not made again without being asked to.
func releasedError(dir string) error {
	eps := ""
	if a, err := experiment.ReadAccount(dir); err == nil && a != nil {
		eps = fmt.Sprintf(" (accounted epsilon %v)", a.Total)
	}
	return &run.UsageError{
		Message: fmt.Sprintf("the run in %s has released something with noise%s: that stays released, and bounds what "+
			"it tells of each user; another run is another release about all who stay, whose epsilons add up", dir,
			eps),
		Fix: "--release-again makes it all the same",
	}
}

// sameData returns an error if a run in another directory has loaded other files than the finished one.
func (s *source) sameData(out string) error {
	m, err := run.ReadManifest(out)
	if err != nil {
		return err
	}
	for _, d := range m.Data {
		if !slices.Contains(s.manifest.Data, d) {
			return &dataset.Error{File: s.dir, Msg: fmt.Sprintf("the files of %s changed since the run was made: what "+
				"it would be without these users cannot be made of them", d.Name),
				Hint: "restore the files, or train anew on those that there are"}
		}
	}
	return nil
}

// lacks returns an error that names the users whom the data of a run were to have and do not.
func lacks(dir string, want, has []string) error {
	var no []string
	for _, id := range want {
		if !slices.Contains(has, id) {
			no = append(no, dataset.Quote([]byte(id)))
		}
	}
	if len(no) == 0 {
		return nil
	}
	if more := len(no) - 3; more > 0 {
		no = append(no[:3], fmt.Sprintf("and %d more", more))
	}
	return &dataset.Error{File: dir, Msg: "the data have no user " + strings.Join(no, ", "),
		Hint: "ids are compared letter by letter with those of the files"}
}

// side returns the hashes of a run.
func side(dir string, m run.Manifest) (s Side, err error) {
	s = Side{Dir: dir, Config: m.ConfigHash, Epsilon: "infinity"}
	s.Seconds, s.Stages = m.Took(), m.Stages
	if n := len(m.Attempts); n > 0 {
		s.Program = m.Attempts[n-1].Build
	}
	a, err := experiment.ReadAccount(dir)
	if err != nil {
		return s, err
	}
	if a != nil {
		s.Epsilon = a.Total.String()
	}
	if s.Files, err = run.Artefacts(dir); err != nil {
		return s, err
	}
	delete(s.Files, CertificateName)
	delete(s.Files, PageName)
	return s, nil
}
