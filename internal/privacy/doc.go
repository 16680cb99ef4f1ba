// Package privacy defines the words of differential privacy for this program: what was released (Event), about which
// unit (Unit), between which data sets (Neighbouring), with what promise (Budget), and the list of all releases
// (Ledger). It draws no noise and computes no epsilon.
//
// # Words
//
// Two data sets are neighbours if they differ in one Unit: one interaction, one user, one cell of a user's sequence.
// The relation says how: the unit is there or not (AddRemove), is another one (Replace), or is empty (ZeroOut). A
// mechanism is (epsilon, delta)-private if on neighbours every set of outputs has, up to delta, at most e^epsilon times
// the probability. An epsilon without its unit, its relation and its delta says nothing; that is why every Event
// carries the first two and every question to an account the third.
//
// An Event describes one release as far as an accountant needs it: the noise, and how far one unit moves the value to
// which noise is added (sensitivity, under the event's own relation). Events nest: Sampled on a random part of the
// data, SelfComposed and Composed one after another, Parallel on disjoint parts. Unprotected data are an event too:
// Unprotected says what and why, and makes the epsilon of every account that reads it infinite.
//
// A Release has a Law, which describes what an observer can learn about neighbours, and an event that nests others has
// a Form. Laws and forms are few, and accountants know only these and no kind of event.
//
// Units contain each other: a user contains their interactions, edges, cells and all else (Unit.Contains), so showing a
// user shows each of these, and protecting a user protects each. In the other direction a user is a group of as many
// cells as a ledger states (Holding), and Group restates a release for a group. Two units count as different data only
// if they never overlap (Unit.Apart).
//
// A run declares what it leaves unprotected before its first release (Declaration), and what its guarantees take as
// public (Assumption), which no epsilon covers.
//
// A Ledger is the list of the events of a run, in memory or as a file of lines that are chained, so that a line changed
// or lost by accident is found; its last line closes it. Under a Key the chain also shows changes made on purpose. Its
// header says which noise the run had: Research, seeded and repeatable, or Secure.
//
// # A new kind of noise
//
// A family of noise is one type: its parameters, its law, what it is for a group (Group), and its text in a ledger (the
// JSON tags, read). If a law that exists bounds it, as ResponseLaw bounds all pure noise, Law returns that one, and the
// type and an entry in kinds (law.go) are all; see SphericalLaplace. So it is where the release has the law of another
// kind, as CorrelatedGaussian has that of a Gaussian. A family with a law of its own is that law without
// a subject, as Laplace is, and is entered in five files:
//
//   - its own, here: the type, with the methods of Release and Law;
//   - law.go: a method of Pricer, and the list kinds;
//   - accountant/rdp/term.go: a method of leaf, from its Rényi curve (and for samples, whether its noise is even);
//   - accountant/pld/laws.go: a method of pair, from the atoms, tails and nodes of its loss at the largest distance;
//   - accountant/exact/plan.go: a method of worst. It and pair may return that they do not cover the law: the next best
//     method then answers.
//
// The compiler lists all behind the first but kinds. TestReleasesAreEntered names that and a sixth, the reference: its
// price bounds those of accountants from below on random ledgers (reference/price.go and draw.go). TestKindsAreAll asks
// for an event to try (event_test.go). Where the program draws the noise, the sampler is a file of package mechanism;
// see channel.Noise. Where users may state it of other programs, it is a mechanism of calculator/eventlog.
//
// # How the packages meet
//
// Mechanisms (package mechanism) scale, sample, check themselves and record an event; accountants (package accountant)
// read events. The two know this package and not each other: a number that an accountant prints comes from what was
// recorded, and mechanisms record before they change a value. Other code may record more, such as what is not
// protected; nothing takes an entry back.
//
//	mechanism --Record--> Ledger --Entries--> accountant: epsilon at most
//	    |
//	 outputs --guesses--> audit: epsilon at least
//
// An audit (package audit) knows neither: it looks at outputs alone, and bounds epsilon from below by how well an
// attacker tells which unit was in. If that bound is above the account, one of the two is wrong, with a stated
// confidence. audit/exact does the same without chance, for mechanisms small enough to be written down whole.
//
// So a promise is kept in three steps, which the example of the package runs: choose the noise that a budget allows
// (accountant.Calibrate), release through a mechanism that records, and charge an account with the entries of the
// ledger. Reports state the account.
//
// # Where things are
//
//   - mechanism: everything that adds noise, one file for each mechanism.
//   - accountant: events to guarantees, one account for all methods. Below it, each
//     usable alone: rdp (Rényi divergences, for everything), exact (the number
//     itself), pld (certified from both sides), classic (theorems of composition,
//     filters), special (functions), terms (events flattened).
//   - audit, audit/exact: lower bounds from experiments, and from whole laws.
//   - correlated: how the noise of sums over time is correlated, which CorrelatedGaussian states.
//   - binomial: the law that audits and randomised responses share.
package privacy
