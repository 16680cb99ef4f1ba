// Package grid reads grid files: it says which runs stand behind each row of a printed table or figure, and which
// numbers the paper prints there.
//
// A run is a task, a configuration and a seed. A row names the task and the configuration (Row), and an Entry is what a
// row trains in one size of the table. A grid has the claims and the causes of differences of its paper with it.
package grid
