// Package attribute has attackers that infer an attribute of users, such as gender, from what they see of
// each user, and the measures of their success. An [Attacker] learns from users whose class is known and
// gives probabilities of the classes for others. All are the common classifiers in their usual settings:
//
//	dnn                      a network with one hidden layer of 100 units, the attacker of Zhang et al.
//	decision-tree            Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984)
//	random-forest            Breiman, Random forests (Machine Learning 2001)
//	naive-bayes-multinomial  Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), 13.2
//	naive-bayes-bernoulli    the same, 13.3
//	naive-bayes-gaussian     John and Langley, Estimating continuous distributions in Bayesian classifiers (UAI 1995)
//	knn-2, knn-5             Cover and Hart, Nearest neighbor pattern classification (1967)
//	gaussian-process         Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), algorithms 3.1, 3.2
//	logistic-regression      Bishop, Pattern Recognition and Machine Learning (2006), 4.3.4, with an L2 penalty
//	majority                 the shares of the classes in training, which is the floor
//
// Source of the attack: Zhang et al., "Graph Embedding for Recommendation against Attribute Inference
// Attacks" (WWW 2021), section 5. The paper names the attackers and few of their settings. The others are
// those of scikit-learn, to which testdata/attackers.py compares the package.
//
// What is seen of a user is a row of numbers. Rows of interactions are mostly zero, so every attacker but
// Gaussian naive Bayes works on the non-zeros.
//
// A class that no training user has gets probability zero, except from the network, which keeps an
// output for it. Where an attacker cannot work on the given rows, such as counts that are negative, Fit
// and Probabilities return an [*UnsuitableError].
//
// Results depend on the rows, their order and the stream, never on the number of workers.
package attribute
