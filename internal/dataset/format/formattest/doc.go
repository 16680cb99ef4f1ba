// Package formattest has helpers for the tests of readers: the good and the bad files of this
// repository as seeds, a parse of bytes whose errors must name a place, and a round trip
// through a file.
package formattest
