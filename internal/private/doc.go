// Package private lists recommenders with one finite epsilon for a whole user, each a folder with its
// proof; release is what they share.
package private
