// Package slates measures attacks on slates under one protocol (Xin et al., "On the User Behavior Leakage from
// Recommender System Exposure", ACM TOIS 2023, section 5.2): an attacker sees what users were shown and names what
// they clicked before. Candidates are all items, or those of the user's own log, which holds the answers; the
// attacker may name k, k for every click, or k in every list. Nothing is reported without floors under the same
// protocol: random order, popularity, counts of what was clicked before such slates. A leak is the gain over a floor
// that names as many distinct items for every pair.
package slates
