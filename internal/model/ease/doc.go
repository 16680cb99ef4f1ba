// Package ease is EASE: Steck, "Embarrassingly Shallow Autoencoders for Sparse
// Data", WWW 2019, arXiv 1905.03375. Of the 0/1 matrix X of users and items it is the
// weights B that minimise |X - X B|² + lambda |B|² with a diagonal of zeros, in
// closed form (eq. 8 there):
//
//	P = (X'X + lambda I)^-1,  B_ij = -P_ij / P_jj,  B_jj = 0,  scores X B
//
// It has no gradient, no seed and one parameter. What the scores need is only
//
//	(X B)_uj = x_uj - (X P)_uj / P_jj
//
// so that the inverse may be of items x items (X P as it is) or, by the identity
// X (X'X + lambda I)^-1 = (X X' + lambda I)^-1 X, of users x users:
//
//	X P = K X,  P_jj = (1 - x_j' K x_j) / lambda,  K = (X X' + lambda I)^-1
//
// with x_j column j of X. Fit takes the smaller of the two, which is what makes the
// 40,981 items of Gowalla fit: 29,858 users need 3.6 GB and 2.7e13 floating-point operations
// where the items would need 6.7 GB and 6.9e13.
package ease

// Cite is the publication.
const Cite = "Steck, Embarrassingly Shallow Autoencoders for Sparse Data, WWW 2019, arXiv 1905.03375"
