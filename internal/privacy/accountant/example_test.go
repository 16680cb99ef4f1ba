package accountant_test

import (
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// A thousand steps of DP-SGD under three methods.
func ExampleAccount() {
	step := privacy.Sampled{Rate: 0.01, Method: privacy.Poisson, Event: privacy.Gaussian{
		Sigma: 1, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}}
	for _, m := range []accountant.Method{accountant.Contour, accountant.PLD, accountant.RDP} {
		a, err := accountant.New(m, privacy.Record, privacy.AddRemove)
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := a.Charge(step, 1000); err != nil {
			fmt.Println(err)
			return
		}
		r, err := a.Spent(1e-5)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-5s %.3f\n", r.Method, r.Epsilon)
	}
	// Output:
	// exact 1.828
	// pld   1.828
	// rdp   2.101
}

// The least noise for a promise, which is kept at exactly that noise.
func ExampleCalibrate() {
	release := func(sigma float64) (float64, error) {
		a, err := accountant.New(accountant.Contour, privacy.Record, privacy.AddRemove)
		if err != nil {
			return 0, err
		}
		step := privacy.Sampled{Rate: 0.01, Method: privacy.Poisson, Event: privacy.Gaussian{
			Sigma: sigma, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}}
		if err := a.Charge(step, 1000); err != nil {
			return 0, err
		}
		r, err := a.Spent(1e-5)
		return r.Epsilon, err
	}
	goal := accountant.Goal{Epsilon: 1, Delta: 1e-5, Exposed: accountant.Exposed(0.01, 1000)}
	c, err := accountant.Calibrate(goal, 1, release)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("sigma %.4f, epsilon at most 1: %v\n", c.Noise, c.Epsilon <= 1)
	// Output: sigma 1.4146, epsilon at most 1: true
}

// What a run left open makes its epsilon infinite, and says why.
func ExampleChargeLedger() {
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		fmt.Println(err)
		return
	}
	release := privacy.Gaussian{Sigma: 4, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	if err := l.Record("aggregate", release, 10); err != nil {
		fmt.Println(err)
		return
	}
	open := privacy.Unprotected{What: "labels", Why: "the loss sees the next item"}
	for _, e := range []privacy.Event{nil, open} {
		if e != nil {
			if err := l.Record("loss", e, 1); err != nil {
				fmt.Println(err)
				return
			}
		}
		a, err := accountant.New(accountant.Analytic, privacy.Edge, privacy.AddRemove)
		if err != nil {
			fmt.Println(err)
			return
		}
		if err := accountant.ChargeLedger(a, l.Entries()); err != nil {
			fmt.Println(err)
			return
		}
		r, err := a.Spent(1e-6)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("epsilon %.2f", r.Epsilon)
		for _, u := range r.Unprotected {
			fmt.Printf(" (%s: %s)", u.What, u.Why)
		}
		fmt.Println()
	}
	// Output:
	// epsilon 3.75
	// epsilon +Inf (labels: the loss sees the next item)
}
