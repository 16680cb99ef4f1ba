package record

import (
	"strings"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// Run holds one finished run. Scores are shares, not percent, rounded to seven decimals. Epochs count from 1.
type Run struct {
	Task       string        `json:"task"`
	Method     string        `json:"method"`
	Setting    string        `json:"setting"`               // the profile, and what differs from it
	ConfigFile string        `json:"config_file,omitempty"` // from configs on, where it is there
	ConfigHash string        `json:"config_sha256"`         // of the effective configuration, the seed and the task
	Seed       uint64        `json:"seed"`
	DataName   string        `json:"data_name"`
	Recipe     string        `json:"recipe,omitempty"`
	Level      dataset.Level `json:"evidence_level"`
	Data       []run.Data    `json:"data"` // with hashes
	Scores     []Scores      `json:"scores"`
	Floors     []Scores      `json:"floors,omitempty"`
	Gains      []Gain        `json:"gains,omitempty"` // where they were asked for
	Epochs     Epochs        `json:"epochs"`
	Epsilon    *Epsilon      `json:"epsilon,omitempty"` // nil: the run wrote no account
	Version    string        `json:"program"`
	Commit     string        `json:"commit,omitempty"` // empty: the program was built without knowing it
	Dirty      bool          `json:"uncommitted,omitempty"`
	Build      string        `json:"build"`
	Machine    string        `json:"machine"`
	Seconds    float64       `json:"seconds"` // over all attempts
	Ended      time.Time     `json:"ended"`
}

// Scores holds one row of measurements.
type Scores struct {
	Name    string             `json:"name"`
	Release string             `json:"release,omitempty"`
	Values  map[string]float64 `json:"values"` // by metric name
}

// Gain holds the difference between a row of an attack and a floor, paired by user, with its interval.
type Gain struct {
	Row       string     `json:"row"`
	Attribute string     `json:"attribute,omitempty"` // empty: the attack guesses items
	Metric    string     `json:"metric"`
	Over      string     `json:"over"`
	Value     float64    `json:"value"`
	Interval  [2]float64 `json:"interval"`
}

// what returns the name of the measurement: the metric, and the attribute if one is guessed.
func (g Gain) what() string { return strings.TrimSuffix(g.Metric+" "+g.Attribute, " ") }

// Epochs holds the length of a run's training. Short gives the reason why it is less than the profile's length, which
// is the paper's if it has one.
type Epochs struct {
	Selected int    `json:"selected,omitempty"` // of the evaluated model
	Run      int    `json:"run,omitempty"`      // that validation saw
	Cap      int    `json:"cap,omitempty"`
	Steps    int    `json:"steps,omitempty"`
	Short    string `json:"short,omitempty"`
}

// Epsilon holds the account in privacy.json.
type Epsilon struct {
	Claimed *privacy.Number `json:"claimed,omitempty"`
	Delta   float64         `json:"claimed_delta,omitempty"`
	Unit    string          `json:"claimed_unit,omitempty"`
	Total   privacy.Number  `json:"accounted"` // of the whole run and its worst unit
	Units   []Unit          `json:"noise,omitempty"`
	Open    []string        `json:"without_noise,omitempty"`
	Parts   []Part          `json:"parts,omitempty"` // of an account that shows what the noise comes to step by step
}

// Part holds one line of such an account. RDP is the epsilon by the paper's own conversion.
type Part struct {
	Name    string         `json:"name"`
	Epsilon privacy.Number `json:"eps_exact"`
	RDP     privacy.Number `json:"eps_rdp,omitempty"`
}

// Unit holds the epsilon of a run's noise for one kind of neighbour.
type Unit struct {
	Unit         string         `json:"unit"`
	Neighbouring string         `json:"neighbouring"`
	Delta        float64        `json:"delta"`
	Epsilon      privacy.Number `json:"epsilon"`
}

// Measured holds numbers of a program without a run directory.
type Measured struct {
	Command string             `json:"command"`
	Values  map[string]float64 `json:"values"`
	Commit  string             `json:"commit,omitempty"`
	Build   string             `json:"build"`
	Machine string             `json:"machine"`
	Date    string             `json:"date"` // year-month-day
}

// Version is the version of the files that this program writes.
const Version = 1

// File holds the records of one page.
type File struct {
	Version int      `json:"version"`
	About   string   `json:"about"` // what they are records of
	Records []Record `json:"records"`
}

// Record holds the source of one row of a table, or of one number in a sentence. Either Runs or Measured is set.
type Record struct {
	Name     string    `json:"name"`
	Runs     runs      `json:"runs,omitempty"` // by seed
	Measured *Measured `json:"measured,omitempty"`
}

// Kind returns the kind of record in words.
func (r *Record) Kind() string {
	if r.Measured != nil {
		return "measured"
	}
	return "runs"
}

// runs is the form of a record's runs in a file: the first in full, and of the others only differences from the first.
// A null is a field that the first has and this one lacks.
type runs []Run
