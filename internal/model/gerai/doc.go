// Package gerai is the network of GERAI: Zhang, Yin, Chen, Huang, Cui, Zhang, "Graph Embedding
// for Recommendation against Attribute Inference Attacks", WWW 2021, arXiv 2101.12549. A user
// u has a vector x_u of features, an item v is a row of a table. Nodes k look at their
// neighbours and at themselves; all parameters but the base embeddings are shared by users
// and items (numbers of section 4):
//
//	z_u = E_U x_u, z_v = E_V v                            eq. 4
//	m_k = MLP(z_k)                                        eq. 3
//	a_ck = w2·sigma(W1 [m_k; z_c] + b1)                   eq. 8
//	alpha_ck = softmax of a_ck over k in N(c) and c       eq. 7
//	z*_c = ReLU(W sum_k alpha_ck m_k + b)                 eq. 5, 6, 9
//	q_uv = norm(ReLU(W3 [z*_u; z*_v] + b3))               eq. 10
//	s_uv = h·q_uv
//	loss = mean of f(h·(q_uv - q_uv')) + gamma |Theta|²   eq. 11, 17
//
// with f(x) = ln(1 + e^-x), or its Taylor form ln 2 - x/2 + x²/8 at 0. [Model.Loss] computes
// both, and the forms in which GERAI adds noise ([Objective]).
//
// W1 = [W1a W1b] and W3 = [W3a W3b] are kept as two matrices each. W1a m_k and W1b z_c + b1
// are computed once for a node, so an edge costs d sigmoids and an inner product, and a pair
// costs 3d operations.
//
// What the paper leaves open, and what is chosen here: the MLP has three affine maps with
// ReLU after the first two. sigma is the sigmoid, or ReLU by choice. norm is r/(1+r); the
// clip to [0, 1] that the paper suggests and a sigmoid in place of ReLU and clip are choices.
// Departures: attention has no bias b2, whose gradient is zero. Glorot's initial values are
// the default: with the paper's N(0, 1) no entry of q lies inside (0, 1), so a clip passes no
// gradient. A node may look at a sample of its neighbours in training, for large graphs.
package gerai

// Cite names the publication.
const Cite = "Zhang et al., Graph Embedding for Recommendation against Attribute Inference Attacks, WWW 2021, arXiv " +
	"2101.12549"
