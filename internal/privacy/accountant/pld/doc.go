// Package pld computes a certified bracket of the epsilon or the delta of a composition from
// discretised privacy losses. Lower is at most the exact value and Upper at least, and the
// certificate contains every error of the method.
//
// The loss of a release is L = log P(x)/Q(x) for x drawn from P, where P and Q are the release's
// laws on two neighbouring data sets (for the releases here a known worst pair, see Pairs below). A
// composition's losses add up and
//
//	delta(eps) = E[(1 - exp(eps - L))+]
//
// (Sommer, Meiser, Mohammadi, PETS 2019; Koskela, Jälkö, Honkela, AISTATS 2020).
//
// # Discretisation
//
// The line of losses is cut into cells of width h. The masses of each cell under P and under Q are
// differences of distribution functions, taken from the end with the smaller tail.
//
// Upper: the mass of a cell goes to its two ends such that both masses stay what they were (connect
// the dots: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, "Connect the dots", PETS 2022, section
// 4). That spreads the likelihood ratio without moving its mean, so the new pair dominates the old
// one, and pairs that dominate compose (Zhu, Dong, Wang, AISTATS 2022, theorem 10). Masses are
// split from P and Q masses, never from second differences of delta, so that fine meshes create no
// mass.
//
// Lower: all of a cell of width 2h becomes one point, which is processing and so loses information.
// Enough of a neighbouring cell is mixed in to bring that point's loss onto the grid or slightly
// above it; then it is rounded down. If a neighbour has too little, the cell is rounded down as it
// is.
//
// Both differ from the exact loss by O(h²) in each step. Atoms (Laplace,
// randomized response, discrete noise) are put exactly onto the grid: the mesh
// is a fraction of the distance between them.
//
// # Composition
//
// Masses are tilted by exp(cL)/M(c), with c near the saddle point of delta, and composed by FFT. So
// rounding errors are relative to delta; without the tilt they would be relative to one. The powers
// are taken in polar form. The window is chosen by Chernoff bounds. What leaves it is bounded again
// by the moments of the discretised masses themselves. Wrap-around only adds mass to the window. So
// Upper holds from the start of the window on as it is, and adds the bound for an epsilon below it;
// Lower subtracts the bound.
//
// Few coefficients of many releases count. Summed by parts, the coefficient k of a step is at most
// the sum of absolute differences of its masses, over |1 - exp(2 pi i k/n)|: that is known before any
// transform, and tells from which k on all powers are below exp(-80). Only the coefficients
// before are computed. If they are few, no transform back is needed either: the sums over all losses
// from one on are geometric series of each wave.
//
// # Work
//
// Brackets start coarse. The search leaves a direction whose upper end is below the lower end of
// the other, and adds bins until the bracket is narrow. The points of the survey that chooses
// windows, the cells and the bins are all limited. So epsilons of millions and hundreds of
// different releases take about a second at most, and give a wider bracket.
//
// # Rounding
//
// Every entry of a Fourier matrix is a product of one twiddle per stage, so an FFT's error is at
// most its stages times a few units times the sum of absolute values, entry by entry (the argument
// of Higham, Accuracy and Stability, section 24.1, without norms; package fft has the proof for the
// transforms that are used). That bound goes through the
// power and the way back. The result is added to Upper and subtracted from Lower, and so is the
// error of the sums that are carried down the losses. The errors of distribution functions, at most
// 128 units of the smaller tail up to ten deviations out, are covered by moving that much mass up,
// or down, by one cell. Masses are added up by a sum that keeps what its additions lose, and the few units
// that are left count once for each release.
//
// # Pairs
//
// Gaussian, Laplace, their discrete versions: noise, and noise moved by the sensitivity. Poisson
// sampling under add-remove or zero-out: (1-q)Q + qP against Q, and the two exchanged; the larger
// value counts. Poisson-sampled Gaussian under replace, by the norm that its event states: for sums
// clipped at half the sensitivity C, (1-q)N(0)+qN(C) against (1-q)N(0)+qN(-C); for vectors up to
// the sensitivity a pair that dominates all neighbours and is none of them, so that there is no
// lower bound; for vectors of any length, the release with probability q and nothing else. PureLDP:
// binary randomized response, which dominates every epsilon-DP release (Kairouz, Oh, Viswanath,
// ICML 2015). Everything else is ErrNotCovered.
package pld
