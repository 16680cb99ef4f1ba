// Package hrnn is the hierarchical recurrent network of Quadrana, Karatzoglou, Hidasi, Cremonesi,
// "Personalizing Session-based Recommendations with Hierarchical Recurrent Neural Networks",
// RecSys 2017, arXiv 1706.04148. One gated recurrent unit reads the items of a session. Another one
// reads a user's sessions, and says with which state the next one begins. With s the state of the
// session and c that of the user, both of width d (sections 3.1 and 3.2 there):
//
//	c  = GRU_user(s, c)                 (1) at the end of a session; s is its last state
//	s  = tanh(W c + b)                  (2) the first state of the user's next session
//	s' = GRU_session(i, s)              (3) variant init: item i is read
//	s' = GRU_session(i, s, c)           (4) variant all: c is added to all three gates
//	r_j = out_j . s' + bias_j           (5) the score of item j as the next one
//
// Both units are of the form, with x what the input gives to the three gates:
//
//	r = sigmoid(x_r + U_r h)   z = sigmoid(x_z + U_z h)   a = tanh(x_c + U (r ∘ h))   h' = (1-z) ∘ h + z ∘ a
//
// An item is a one-hot vector, so x is a row of a table (items, 3d) and a bias. A user begins with
// c = 0 and s = 0: nothing is known yet, and (2) does not apply.
//
// The loss is TOP1 over the other items of a mini-batch of n rows, with y = tanh(r), where item j
// is the target of row j and i numbers the rows ([TOP1]):
//
//	mean_i [ mean_j (sigmoid(y_ij - y_ii) + sigmoid(y_ij²)) - sigmoid(y_ii²)/n ]      (6)
//
// A mini-batch has one item of each of several users, who are read side by side and session by
// session ([Schedule]). States go on from one mini-batch to the next, but gradients do not: (1) to
// (5) are differentiated through one item, and through (1) and (2) where that item begins a session.
//
// What follows the authors' program (github.com/mquad/hgru4rec) where the paper leaves it open, or
// says otherwise:
//
//   - The last item of a session is a target and is never read, so s in (1) is the state that
//     predicted it. A session of one item has nothing to learn and is passed over. Reading for a
//     ranking does the same, and so agrees with the training ([Model.Read]).
//   - States keep what dropout left of them.
//   - There is no penalty, and users are read in the order of the data in every epoch.
//
// What does not follow it. Users' last sessions are read to their end: the program ends an epoch
// when a place of the mini-batch finds no further user. Where an item is twice in a mini-batch, its
// gradients are added before the optimiser sees them, and not each scaled by itself. Ranking takes r
// and not tanh(r), which has the same order until it is rounded to 1.
package hrnn
