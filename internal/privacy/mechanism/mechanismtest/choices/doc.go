// Package choices forces the random choices of mechanisms, for tests. Enumerated makes them in
// every possible way, which gives the exact law of the code that samples.
package choices
