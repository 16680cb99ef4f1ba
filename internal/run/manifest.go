package run

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/system"
)

// The values of a manifest's Status.
const (
	StatusRunning     = "running"
	StatusKilled      = "killed" // it stopped without a message: its process does not exist
	StatusDone        = "done"
	StatusFailed      = "failed"
	StatusInterrupted = "interrupted"
)

// Manifest records how a run directory was made: program, machine, data, timings and status. Everything that may differ
// between two runs with equal results is here and in no other file.
type Manifest struct {
	Task       string             `json:"task"` // "train dipsgnn"
	Cite       string             `json:"cite,omitempty"`
	Status     string             `json:"status"`
	Error      string             `json:"error,omitempty"`
	Final      bool               `json:"final,omitempty"` // no further attempt can succeed
	Seed       uint64             `json:"seed"`
	ConfigFile string             `json:"config_file,omitempty"` // as given on the command line
	ConfigHash string             `json:"config_sha256"`
	Draws      Draws              `json:"draws,omitempty"`
	Results    int                `json:"results,omitempty"` // ResultsOf the task, in the program that began the run
	Data       []Data             `json:"data,omitempty"`
	Notes      []string           `json:"notes,omitempty"` // such as "research noise"
	Attempts   []Attempt          `json:"attempts"`
	Stages     map[string]float64 `json:"stage_seconds,omitempty"` // of the last attempt

	HoldOut *HoldOut `json:"hold_out,omitempty"` // what was kept from the model; nil: nothing
	Plant   *Plant   `json:"plant,omitempty"`    // canaries in its data; nil: none
	// Forgotten are the users whose rows it never saw, by dataset.ForgottenID.
	Forgotten dataset.Forgotten `json:"forgotten,omitempty"`

	// Secure says that samples and noise are from cryptographic bits. They have no seed: Seed is that of the public
	// random choices.
	Secure bool `json:"secure,omitempty"`

	// Noise says where the run has its noise from, if it has any: NoiseOfKey, NoiseOfSeed or NoiseOfSystem.
	// Empty in runs of older programs, whose noise is of Seed.
	Noise string `json:"noise,omitempty"`

	// Ledger repeats the closing line of ledger.jsonl; nil before the end, and in a run without
	// a ledger.
	Ledger *privacy.Seal `json:"ledger,omitempty"`
}

// Data identifies an input by its hash.
type Data struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Attempt describes one process that worked on the run.
type Attempt struct {
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	// processor time of the process, all threads; other work on the machine adds little to it
	CPUSeconds   float64 `json:"cpu_seconds,omitempty"`
	Resumed      bool    `json:"resumed,omitempty"`
	Status       string  `json:"status"`
	PeakRSSBytes int64   `json:"peak_rss_bytes"`
	Build        Build   `json:"build"`
	Machine      Machine `json:"machine"`
}

// Took returns the time of all attempts in seconds. An attempt counts with its wall time, or with its processor time
// where that is less, as on a busy machine.
func (m *Manifest) Took() (seconds float64) {
	for _, a := range m.Attempts {
		if a.CPUSeconds > 0 {
			seconds += min(a.Seconds, a.CPUSeconds)
		} else {
			seconds += a.Seconds
		}
	}
	return seconds
}

// ReadManifest reads the manifest of a run directory. It reports a run whose status is running
// as killed if no process can be working on it.
func ReadManifest(dir string) (Manifest, error) {
	m, err := readManifest(dir)
	if err != nil || m.Status != StatusRunning || !abandoned(dir) {
		return m, err
	}
	// The run may have ended in the meantime; then its manifest now says so.
	if m, err = readManifest(dir); err == nil {
		m.killed()
	}
	return m, err
}

// killed sets the fields that a killed process could not write.
func (m *Manifest) killed() {
	if m.Status == StatusRunning {
		m.Status = StatusKilled
	}
	for i := range m.Attempts {
		if m.Attempts[i].Status == StatusRunning {
			m.Attempts[i].Status = StatusKilled
		}
	}
}

func readManifest(dir string) (Manifest, error) {
	var m Manifest
	path := filepath.Join(dir, manifestName)
	b, err := system.ReadFile(path, system.MostOfRun)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%s: not a manifest: %w", path, err)
	}
	if m.Task == "" || m.ConfigHash == "" {
		return m, fmt.Errorf("%s: not a manifest: names no task or configuration", path)
	}
	return m, nil
}

// Draws says by which keys a run made its random choices of users and rows: its splits, held-out rows and samples.
type Draws string

// ByID says that random choices are keyed by the ids of users and items, as in this program. Runs of older programs
// leave Draws empty: their choices are keyed by the positions of users and rows.
const ByID Draws = "by id"

// View returns the view of a finished run's data with all users and rows but those of forgotten users, and without
// canaries. seed is that of generated rows and random splits.
func (m Manifest) View(seed rng.Seed) dataset.View {
	return dataset.View{Seed: seed, ByPlace: m.Draws != ByID, Forgotten: m.Forgotten}
}
