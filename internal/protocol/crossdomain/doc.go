// Package crossdomain measures recommenders of two domains under one protocol (Lin, Pan, Ming, "Privacy-Preserving
// Cross-Domain Sequential Recommendation", ICDM 2023, section IV): users have a row of items in a target and in an
// auxiliary domain; the last item of a target row is for testing, the one before it for validation. A held-out item
// is ranked among items drawn by popularity, and among all items that its user does not have. Ties count half. An
// item that no row trained on has is out of reach: its place is infinite, and it counts.
//
// A method gives a Model of the rows of both domains; what it does to the auxiliary rows
// before is its own.
package crossdomain
