package tune

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"privrec/internal/run"
	"privrec/internal/system"
)

// Line holds a trial in the log.
type Line struct {
	Trial     int    `json:"trial"`              // from 1
	Task      string `json:"task"`               // as the study names it
	Candidate int    `json:"candidate"`          // which setting of the task, from 1
	Rung      int    `json:"rung"`               // of successive halving, from 0
	Resource  int    `json:"resource,omitempty"` // of the study's key
	// what differs from the configuration; empty: it as it stands
	Settings map[string]string `json:"settings"`
	Config   string            `json:"trial_sha256"` // of the effective configuration, the seed and the rows
	Status   string            `json:"status"`       // done or failed
	Error    string            `json:"error,omitempty"`
	// the objective; with noise where the choice is private; 0 of a failed trial
	Score   float64            `json:"score"`
	Metrics map[string]float64 `json:"metrics,omitempty"` // of validation rows
	Epoch   int                `json:"epoch,omitempty"`   // of the model that was measured
}

// Values of Line.Status.
const (
	done   = "done"
	failed = "failed"
)

const (
	logName   = "log.jsonl"
	timesName = "times.jsonl"
	studyName = "study.yaml"
)

// journal is the log of a search. One process writes it at a time.
type journal struct {
	f, times *os.File
	lines    []Line // those that were there when it was opened
}

// openJournal opens the log in a folder and reads it. It removes a last line that was cut by a kill. study is the text
// of the study, which must equal that of the log.
func openJournal(out string, study []byte, resume bool) (*journal, error) {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, run.WithHint(fmt.Errorf("open the log: %w", err), "choose a writable --out")
	}
	f, err := os.OpenFile(filepath.Join(out, logName), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, run.WithHint(fmt.Errorf("open the log: %w", err), "choose a writable --out")
	}
	j := &journal{f: f}
	if err := j.open(out, study, resume); err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

// open takes the log for this process, and reads its lines.
func (j *journal) open(out string, study []byte, resume bool) error {
	if err := system.TryLock(j.f); err != nil {
		return run.Usagef("wait for it, stop it, or choose another --out", "%s is being written by another process",
			j.f.Name())
	}
	if err := j.read(); err != nil {
		return err
	}
	if err := j.same(filepath.Join(out, studyName), study, resume); err != nil {
		return err
	}
	times, err := os.OpenFile(filepath.Join(out, timesName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	j.times = times
	return err
}

// same compares the study with that of the folder, or writes it if there is no trial yet.
func (j *journal) same(path string, study []byte, resume bool) error {
	was, err := os.ReadFile(path)
	switch {
	case os.IsNotExist(err), err == nil && len(j.lines) == 0: // or nothing has come of it yet
		return system.WriteFile(path, func(w io.Writer) error {
			_, err := w.Write(study)
			return err
		})
	case err != nil:
		return err
	case !resume:
		return run.Usagef("continue it with --resume, or choose another --out", "%s already holds a search",
			filepath.Dir(path))
	case !bytes.Equal(was, study):
		return run.Usagef("resume with the study as it was, or choose another --out", "%s is of another study", path)
	}
	return nil
}

// read reads the complete lines.
func (j *journal) read() error {
	b, err := io.ReadAll(j.f)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(b, '\n') + 1
	if whole < len(b) {
		if err := j.f.Truncate(int64(whole)); err != nil {
			return err
		}
	}
	if _, err := j.f.Seek(int64(whole), io.SeekStart); err != nil {
		return err
	}
	for i, text := range bytes.Split(b[:whole], []byte("\n")) {
		if len(text) == 0 {
			continue
		}
		var l Line
		if err := json.Unmarshal(text, &l); err != nil {
			return run.WithHint(fmt.Errorf("%s:%d: not a trial: %w", j.f.Name(), i+1, err),
				"start again with another --out")
		}
		j.lines = append(j.lines, l)
	}
	return nil
}

// find returns the line of a trial, if the log has it. It fails if the log has another trial in its place.
func (j *journal) find(want Line) (Line, bool, error) {
	if want.Trial > len(j.lines) {
		return want, false, nil
	}
	got := j.lines[want.Trial-1]
	if got.Trial != want.Trial || got.Config != want.Config {
		return got, false, run.Usagef("start again with another --out",
			"%s:%d: is of another trial: a configuration changed since", j.f.Name(), want.Trial)
	}
	return got, true, nil
}

// add appends a line, durably, and the time that its trial took.
func (j *journal) add(l Line, took time.Duration) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err := j.f.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	_, err = fmt.Fprintf(j.times, "{\"trial\":%d,\"seconds\":%.3f}\n", l.Trial, took.Seconds())
	return err
}

// close ends the writing. It removes a log without a line, with its study.
func (j *journal) close() {
	st, err := j.f.Stat()
	if err == nil && st.Size() == 0 && j.times != nil {
		dir := filepath.Dir(j.f.Name())
		for _, name := range []string{logName, timesName, studyName} {
			os.Remove(filepath.Join(dir, name))
		}
		os.Remove(filepath.Join(dir, "trials")) // unless a trial was begun
		os.Remove(dir)
	}
	j.f.Close()
	if j.times != nil {
		j.times.Close()
	}
}
