package target

import (
	"path/filepath"

	"privrec/internal/config"
)

// On names the finished run that is attacked.
type On struct {
	Run    string `yaml:"run"`              // directory of the attacked run
	Beside bool   `yaml:"beside,omitempty"` // true: run is relative to the folder that holds this run's own directory
	// which release of the run to attack, where it kept several; empty: the first one
	Release string `yaml:"release"`
}

// Training sets what to train and attack where no run is named. It is trained in the folder "target" of the attack's
// own directory, with members drawn as the attack needs them.
type Training struct {
	Task   string   `yaml:"task"`                // task to train, such as train ease
	Config string   `yaml:"config"`              // configuration file of the task; empty: its defaults
	Set    []string `yaml:"set"`                 // keys to change in the configuration, as in model.lambda=80
	Share  float64  `yaml:"share" limit:"(0,1)"` // chance that a user, or a row, is held out
}

// Intervals sets the intervals over users.
type Intervals struct {
	Resamples  int     `yaml:"resamples" limit:"100..1000000"` // number of resamples of users
	Confidence float64 `yaml:"confidence" limit:"(0,1)"`       // level of the intervals
}

// DefaultTraining names no task to train. share is the chance that a user, or a row, is held out of one that is named.
func DefaultTraining(share float64) Training { return Training{Set: []string{}, Share: share} }

// DefaultIntervals returns intervals at 95 % from 1,000 resamples.
func DefaultIntervals() Intervals { return Intervals{Resamples: 1000, Confidence: 0.95} }

// checkTarget reports targets that cannot be attacked, under the keys "on" and "target".
func checkTarget(v *config.Checker, on On, t Training) {
	v.Check(on.Run == "" || t.Task == "", "target.task",
		"is not trained with on.run: attack the run and the task one after the other")
	v.Check(!on.Beside || on.Run != "", "on.beside", "is read with on.run only")
	v.Check(!on.Beside || !filepath.IsAbs(on.Run), "on.run", "names %q, which is not beside this run", on.Run)
	v.Check(t.Task != "" || t.Config == "" && len(t.Set) == 0, "target.task",
		"must say what target.config and target.set are of")
}

// Where returns the directory of the attacked run, for an attack in directory own.
func Where(on On, t Training, own string) string {
	switch {
	case t.Task != "":
		return filepath.Join(own, "target")
	case on.Beside:
		return filepath.Join(filepath.Dir(own), on.Run)
	}
	return on.Run
}
