// Package rap is the attacker of RAP: Beigi, Mosallanezhad, Guo, Alvari, Nou, Liu,
// "Privacy-Aware Recommendation with Private-Attribute Protection using Adversarial
// Learning", WSDM 2020, arXiv 1911.09872. A recommender trained by Bayesian personalised
// ranking plays against a network that infers users' attributes from their items and from
// what is recommended to them.
//
// Only the abstract of that paper was at hand, so the equations are ours, and results are
// "RAP-like". User u has interactions i_1 ... i_n and the score s_uj = u·v_j of item j. T(u)
// is the list of u, all items outside the interactions, or only the K of them with the highest
// scores. The attacker has a vector e_j for every item:
//
//	w_uj = exp(s_uj/τ) / sum over l in T(u) of exp(s_ul/τ)    (1) how strongly j is recommended
//	z_u  = sum over j in T(u) of w_uj e_j                     (2) the list as one vector
//	h_u  = GRU(e_i1, ..., e_in, z_u)                          (3) its state after the last input
//	p_ut = softmax(W_t h_u + b_t)                             (4) for each attribute t
//	L_A  = mean over t and users of -log p_ut[y_ut]           (5)
//
// The attacker minimises L_A. The recommender minimises
//
//	L_BPR - a L_A                                             (6)
//
// [Weights] is (1), [Attacker.Loss] is (2) to (5), and [Attacker.Against] gives (6) its second
// term. Which items are in T(u) has no gradient; their weights have one, so that (6) reaches
// the vectors of users and items. Where T(u) are K items only, (6) can change their order but
// cannot call in an item that would mislead the attacker; with all items and a small τ, z_u is
// a soft form of the same list, and it can. The cell is that of Cho et al., EMNLP 2014, in the form of
// package nn.
package rap

// Cite names the publication.
const Cite = "Beigi et al., Privacy-Aware Recommendation with Private-Attribute Protection using Adversarial " +
	"Learning, WSDM 2020, arXiv 1911.09872"
