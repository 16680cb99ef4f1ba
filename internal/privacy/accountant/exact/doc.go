// Package exact computes epsilon and delta of a composition without a mesh: the number itself to
// about ten digits, in a fraction of a millisecond, for any number of releases. In accountant it is
// the method Contour.
//
// For one release with output laws P and Q on neighbouring data let L be the
// privacy loss log(P/Q) and K(w) = log E_P[exp(w L)] its cumulant generating
// function; (w+1)-Rényi DP is K(w)/w. Composition adds the K. Since
// max(0, 1-exp(-x)) has the bilateral Laplace transform 1/(w(w+1)),
//
//	delta(eps) = 1/(2 pi i) ∫ exp(sum K_i(w) - w eps) / (w (w+1)) dw
//
// along any line Re w = c > 0. The line is put through the saddle point and the integral taken by
// the trapezoid rule with step D. That is exact except for images: it returns the sum over all k of
// exp(2 pi k c/D) delta(eps + 2 pi k/D). delta <= 1 bounds the images with k < 0, and Chernoff's
// bound those with k > 0. What is left out beyond the last point is bounded too, by how fast |E
// exp(iyL)| is known to fall, and so is the rounding of every sum. If these bounds together are not
// small the answer is ErrNotCovered. Every epsilon is checked against the Rényi bound that the same
// K gives. (The idea is that of the Fourier accountant, Koskela, Jälkö, Honkela, AISTATS 2020, and
// of the saddle point accountant, Alghamdi et al., ICML 2023. Neither discretises in this way.)
//
// What is covered:
//
//   - Gaussians alone: the closed form (Balle and Wang, ICML 2018, theorem 8).
//   - Poisson-sampled Gaussians, under replace those of sums of clipped vectors, in compositions with
//     anything below. One sampled release alone has a closed form.
//   - Losses on a lattice (randomized response, pure local DP, discrete Laplace, discrete Gaussian in
//     one dimension) alone on a common lattice: the exact sum over the lattice, as the same integral
//     over one period.
//   - Any of these, and Laplace, together with enough Gaussian noise: the integrand falls as that of the
//     Gaussians does. Without Gaussian noise, Laplace noise has atoms at both ends of its loss, the
//     integrand does not fall, and only one release or very many are covered.
//
// Not covered: sampling without replacement (the law depends on the other units), bounded range (no
// single pair of laws is the worst), the discrete Gaussian in several dimensions (again no single
// pair), and few sampled releases or rare events with an integrand that falls too slowly for the
// bounded work of a call.
package exact
