package rdpgcf

import (
	"fmt"
	"math"

	"privrec/internal/epsilons"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// EpsilonRows returns the settings of this paper for privrec account epsilon.
func EpsilonRows() epsilons.Paper { return epsilons.Of[EpsilonReading]("rdpgcf") }

// EpsilonReading holds one reading of a setting: how the noise on layers was set, and what was released.
type EpsilonReading struct {
	Edges  int64 `yaml:"edges"`  // E, number of edges of the training graph
	Epochs int   `yaml:"epochs"` // number of epochs that ran; 0: as many as the noise was set for
	// Propagations is the number of times that all layers were released; 0: once in every step.
	Propagations int64  `yaml:"propagations"`
	Norm         string `yaml:"norm"` // how the adjacency is normalised; empty: as in the paper
	// Theorem gives the paper's bound only, and counts no release.
	Theorem bool `yaml:"theorem"`
	// Calibrated sets the noise so that the releases come to the claim exactly. False: Theorem 3 sets it.
	Calibrated bool `yaml:"calibrated"`
	// Private says that labels, inputs and all else of a run are private too, as in the repaired method, and only its
	// propagation is counted here.
	Private bool `yaml:"private"`
}

// Releases implements epsilons.Source.
func (r EpsilonReading) Releases(s epsilons.Setting) (of epsilons.Releases, err error) {
	c := Default()
	c.Privacy.Epsilon, c.Privacy.Delta = s.Claimed, s.Delta
	c.Train.Epochs, c.Privacy.PlannedEpochs = 300, 300
	if r.Norm != "" {
		c.Model.Norm = r.Norm
	}
	if r.Epochs < 0 || r.Epochs > c.Train.Epochs || r.Propagations < 0 {
		return of, fmt.Errorf("epochs %d and propagations %d, want 0 to %d and at least 0", r.Epochs, r.Propagations,
			c.Train.Epochs)
	}
	cal, err := c.Calibration(r.Edges)
	if err != nil {
		return of, err
	}
	steps := cal.StepsRun()
	if r.Epochs > 0 {
		steps = steps / int64(cal.Epochs) * int64(r.Epochs)
	}
	if r.Propagations > 0 {
		steps = r.Propagations
	}
	releases := steps * int64(cal.Layers)
	var sigma float64
	if r.Calibrated {
		sigma, err = accountant.SigmaFor(cal.Joint*math.Sqrt(float64(releases)), s.Claimed, s.Delta)
	} else {
		sigma, err = cal.Sigma(s.Claimed)
	}
	if err != nil {
		return of, err
	}
	of.Noise = fmt.Sprintf("sigma %.4g, %d releases of sensitivity %.4g", sigma, releases, cal.Joint)
	if !r.Private {
		of.Open = c.open(Ran{Edges: r.Edges, Sigma: sigma, Steps: steps, Selected: c.Train.Selected()})
	}
	if r.Theorem {
		of.Noise = fmt.Sprintf("sigma %.4g, %d releases of sensitivity %.4g, sampled at rate %.4g", sigma,
			cal.Steps()*int64(cal.Layers), cal.View, cal.Rate())
		of.Stated, err = cal.EpsilonOf(sigma)
		return of, err
	}
	layer := privacy.Gaussian{Sigma: sigma, Sensitivity: cal.Joint, Unit: s.Unit, Neighbouring: s.Neighbouring}
	of.Charges = []epsilons.Charge{{Event: layer, Count: releases}}
	return of, nil
}
