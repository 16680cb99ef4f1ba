// Package accountant turns events into guarantees. It knows what was released (package privacy) and
// not how noise is drawn.
//
// # From releases to a guarantee
//
// Describe what was released as an event; compose, sample and count with events too; charge an
// account of one unit under one relation; ask what it spent:
//
//	step := privacy.Sampled{Rate: 0.01, Method: privacy.Poisson, Event: privacy.Gaussian{
//		Sigma: 1, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.AddRemove}}
//	a, err := accountant.New(accountant.Contour, privacy.Record, privacy.AddRemove)
//	err = a.Charge(step, 1000)
//	r, err := a.Spent(1e-5) // r.Epsilon
//
// Sigma is a standard deviation. Sensitivity is the distance by which one unit moves the released
// value, under the event's own relation: a sum of vectors clipped at C moves by C if a record is
// added and by 2C if one is exchanged. A noise multiplier is Sigma/C, so under privacy.Replace it
// buys half as much.
//
// An account is charged in two steps: a dry run that prices every event, then the commit, so that a
// refusal leaves nothing half charged. An event that an accountant cannot price is an error. An
// Unprotected event has an infinite price, and its reason is part of the result.
//
// # Units that contain each other
//
// Charge takes events about the account's own unit and relation. ChargeLedger takes all that a run
// recorded, and charges events about other units as what they cost the account's unit: noise about
// a user to an edge of that user, noise about edges to a user who holds so many of them. An event
// without a known cost makes epsilon infinite, with the reason. Only events about other data are
// left out, for any caller. See restater in containment.go for the rules.
//
// # Methods
//
//   - Analytic: Gaussians only, in closed form, see Exact.
//   - Contour, named "exact" in commands and results: the exact epsilon by integration of the
//     generating function of the privacy loss along a contour (package exact), checked against the two
//     below. Where it does not apply the next best method answers, and Result.Method and Notes say so.
//   - PLD: a certified bracket by discretised privacy losses (package pld).
//   - RDP: the bound of Rényi differential privacy (package rdp), for everything. It is typically 7 to
//     19 % above the exact value, and several times as large for rare events.
//
// All are upper bounds. Results err to the safe side: epsilon, delta and sigma up, mu down.
// Calibrate inverts any of them and returns only noise that was itself accounted.
//
// # Gaussians in closed form
//
// A release with l2 sensitivity D and standard deviation s is mu-Gaussian-DP with mu = D/s (Dong,
// Roth, Su, "Gaussian differential privacy", JRSS-B 2022); adaptive releases compose to mu² = sum
// of mu_i², exactly. From that mu:
//
//   - Exact: the whole curve delta(epsilon) of Balle and Wang ("Improving the
//     Gaussian mechanism", ICML 2018, theorem 8), solved for epsilon;
//   - Closed: the bound mu²/2 + mu sqrt(2 ln(1/delta)), which is Rényi DP under
//     the classic conversion at its best order (Mironov, CSF 2017, proposition
//     3; the DIPSGNN paper's theorem 4.2). Larger by 10 to 20 % at usual values.
//
// # What no accountant sees
//
// The numbers hold for the noise that an event describes. Noise in floating point from a seeded
// source (privacy.Research) tells its input to an attacker who looks at the last bits, for any
// epsilon; see package mechanism.
package accountant
