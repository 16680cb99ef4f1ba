// Package gerai is GERAI: Zhang, Yin, Chen, Huang, Cui, Zhang, "Graph Embedding for Recommendation against Attribute
// Inference Attacks", WWW 2021, arXiv 2101.12549. Users send their features under local differential privacy; an
// attention network recommends from them and from the graph of ratings; its ranking loss has noise in the coefficients
// of its Taylor form. It ranks under package topn's protocol.
//
//	Table 1, Algorithms 1 and 2        package features
//	equations 3 to 10                  model/gerai
//	equations 11 to 17, Algorithm 3    model/gerai.Objective, lossNoise
//	lemma 4.3, its noise scales        Scale, channel.PaperLogisticSensitivity
//	Tables 3 and 4, ranking            Tables
//
// What the paper claims and what holds is in account.go. In short: the noise of the loss enters the gradient of h
// alone, the network's other parameters are trained on the ratings in the clear, and a step's batch moves the
// coefficients |D|/B times as far as the paper counts. Only the noise on features holds as claimed, for a user's whole
// vector; features.Costs has its epsilon for one attribute.
//
// Where the paper is open or does not train. Read as printed, with initial values N(0, 1) and q clipped to [0, 1], no
// entry of q has a slope ([Printed] shows it). Default takes Glorot's values and q = r/(1+r), and batch 1024 with
// Adam's rate 0.005, because batch 64 with that rate leaves no entry of q above 0. The noise is drawn anew in every
// step ("fm-step"). Drawn once, as Algorithm 3 has it ("fm-once"), the objective has no lower bound in h. A third
// reading ("scalar") puts noise on the three numbers of the Taylor form. gamma |Theta|² is added to a sum over the
// training triples, so the mean loss has gamma/|D|.
package gerai
