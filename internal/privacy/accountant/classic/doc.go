// Package classic computes differential privacy in closed form: composition theorems, amplification by sampling, and
// the exact composition of randomized response. None of it needs a curve or a mesh, and much of it is loose. Papers
// state these theorems, other accountants are checked against them, and for pure DP (KFold) they are exact. The laws
// of mechanisms are in package mechanism, the deltas of single releases in package exact.
//
//   - Basic, Advanced, AdvancedTight, AdvancedAny: k-fold adaptive composition of
//     (epsilon, delta)-DP (Dwork and Roth, "The algorithmic foundations of
//     differential privacy", 2014, theorems 3.16 and 3.20; Kairouz, Oh,
//     Viswanath, "The composition theorem for differential privacy", ICML 2015,
//     theorem 3.5).
//   - KFold: the optimal composition theorem (Kairouz, Oh, Viswanath, theorem 3.3; Murtagh and Vadhan,
//     "The complexity of computing the optimal composition of differential privacy", TCC 2016, for
//     unlike terms): the smallest delta that any mechanism with these guarantees can promise, reached
//     by randomized response. No curve of Rényi divergences gets there.
//   - AmplifyPoisson, AmplifyWithoutReplacement: a guarantee on a sample of the data (Balle, Barthe,
//     Gaboardi, NeurIPS 2018).
//   - PureToZCDP: rho of an epsilon-DP mechanism.
//   - Filter: budgets for mechanisms chosen after the results of those before.
//
// A guarantee that cannot be given is an error, ErrUnreachable where no finite epsilon has the delta asked for.
package classic
