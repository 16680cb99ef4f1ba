// Package perturb makes protected files of files: a set of files that appears whole or
// not at all (Stage), worked on in blocks by several goroutines, in order (InOrder).
package perturb
