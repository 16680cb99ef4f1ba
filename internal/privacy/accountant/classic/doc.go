// Package classic has what differential privacy gives in closed form, without a curve or a mesh:
//
//   - Filter: budgets for mechanisms that are chosen after the results of those before.
//   - PureToZCDP: rho of an epsilon-DP mechanism.
package classic
