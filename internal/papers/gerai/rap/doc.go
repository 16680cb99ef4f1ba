// Package rap is RAP: Beigi, Mosallanezhad, Guo, Alvari, Nou, Liu, "Privacy-Aware
// Recommendation with Private-Attribute Protection using Adversarial Learning", WSDM 2020,
// arXiv 1911.09872. Matrix factorisation is trained by Bayesian personalised ranking while an
// attacker learns to infer users' attributes from their items and their recommendations:
//
//	attacker     min L_A             attack.steps steps of Adam before each step of the recommender
//	recommender  min L_BPR - a L_A   over the vectors of users and items
//
// Package model/rap has the attacker and L_A. No noise is drawn, so that nothing is claimed or
// accounted for: how little an attacker infers is measured, and holds for that attacker.
//
// Only the abstract of that paper was at hand, which is why results are called RAP-like. What
// it leaves open is a key of the configuration. A user's items have no order here, since the
// data are a graph: at every step a uniform sample of at most attack.read of them is read, in a
// random order. The attacker knows the attributes of all users.
package rap

// Name of the method in results.
const Name = "RAP-like"

// printed is the name of the row in papers.
const printed = "RAP"
