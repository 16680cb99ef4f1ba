// Package private lists the recommenders that protect all data of a user with one finite epsilon. Each has a folder
// with its proof; they share package release.
package private
