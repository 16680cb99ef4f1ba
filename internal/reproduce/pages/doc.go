// Package pages makes the report of tables and figures: an overview, a page for each paper, a
// page for each finished run, a page of costs, and one JSON document with all cells.
//
// Every page begins with its conclusion in one sentence, computed from the results. A page loads
// nothing from elsewhere. The same results give the same bytes: times and machines are on the page
// of costs alone, which is left out where bytes are compared.
package pages
