// Package accountant turns events into guarantees. It knows what was released
// (package privacy) and nothing of how noise is drawn.
//
// An account is charged in two steps: a dry run that prices every event, then
// the commit, so that a refusal leaves nothing half charged. An event that an
// accountant cannot price is an error, never a guess; an Unprotected event is
// priced, as infinite, and its reason is part of the result.
//
// Here are the closed forms of the Gaussian mechanism. A release with l2
// sensitivity D and standard deviation s is mu-Gaussian-DP with mu = D/s (Dong,
// Roth, Su, "Gaussian differential privacy", JRSS-B 2022); adaptive releases
// compose to mu² = sum of mu_i², exactly. What is printed from that mu:
//
//   - Exact: the whole curve delta(epsilon) of Balle and Wang ("Improving the
//     Gaussian mechanism", ICML 2018, theorem 8), solved for epsilon;
//   - Closed: the bound mu²/2 + mu sqrt(2 ln(1/delta)), which is Rényi DP under
//     the classic conversion at its best order (Mironov, CSF 2017, proposition
//     3; the DIPSGNN paper's theorem 4.2). Larger by 10 to 20 % at usual values.
//
// Results err to the safe side: epsilon and sigma up, mu down.
package accountant
