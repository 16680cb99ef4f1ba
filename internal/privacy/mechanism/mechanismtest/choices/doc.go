// Package choices forces the random choices of mechanisms, for tests: Enumerated answers
// them in every way, which gives the exact law of the very code that samples.
package choices
