// Package ease is EASE: Steck, "Embarrassingly Shallow Autoencoders for Sparse
// Data", WWW 2019, arXiv 1905.03375. X is the 0/1 matrix of users and items. EASE finds
// the weights B between items that minimise |X - X B|² + lambda |B|² under a diagonal of
// zeros. They have a closed form (eq. 8 there):
//
//	P = (X'X + lambda I)^-1,  B_ij = -P_ij / P_jj,  B_jj = 0,  scores X B
//
// There is no gradient, no seed and one setting, lambda. The scores need less than B:
//
//	(X B)_uj = x_uj - (X P)_uj / P_jj
//
// The inverse may therefore be of items x items, as printed, or of users x users, by the
// identity X (X'X + lambda I)^-1 = (X X' + lambda I)^-1 X:
//
//	X P = K X,  P_jj = (1 - x_j' K x_j) / lambda,  K = (X X' + lambda I)^-1
//
// with x_j column j of X. Fit takes the smaller of the two, so that the 40,981 items of
// Gowalla fit into memory: its 29,858 users need 3.6 GB and 2.7e13 floating-point
// operations, its items would need 6.7 GB and 6.9e13. This is the only departure, and it
// changes nothing but rounding.
package ease

// Cite names the publication.
const Cite = "Steck, Embarrassingly Shallow Autoencoders for Sparse Data, WWW 2019, arXiv 1905.03375"
