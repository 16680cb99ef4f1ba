package synthetic

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"privrec/internal/export"
	"privrec/internal/privacy"
	"privrec/internal/report"
)

// Card says what synthetic rows are, what the guarantee of their run covers, what they keep, and what they do not.
type Card struct {
	Name    string       `json:"name"` // of the data set
	What    string       `json:"what"`
	Run     Origin       `json:"run"`
	Privacy export.Cover `json:"privacy"`
	Cost    string       `json:"further_cost"`
	Seed    uint64       `json:"seed"`
	Users   int          `json:"users"` // drawn
	Shown   int          `json:"users_with_rows"`
	Rows    int          `json:"rows"`
	Items   int          `json:"items"`     // that can have rows
	Listed  int          `json:"catalogue"` // items that there are
	Factors int          `json:"factors"`   // eigenvalues of the release beyond its noise
	Mean    float64      `json:"mean_items"`
	Public  []string     `json:"public_choices"`
	Kept    []string     `json:"kept"`
	Lost    []string     `json:"not_kept"`
	Files   []string     `json:"files"`
}

// Origin names the run whose release the rows are drawn from.
type Origin struct {
	Task   string        `json:"task"`
	Method string        `json:"method"`
	Data   string        `json:"data"`
	Config string        `json:"config_sha256"`
	Ledger string        `json:"ledger_sha256"`
	Seal   *privacy.Seal `json:"ledger_end,omitempty"`
}

// texts fills in what every card says.
func (c *Card) texts() {
	c.What = fmt.Sprintf("synthetic users, drawn from the private matrix that a run of %s released for %s; no row is "+
		"of a person", c.Run.Method, c.Run.Data)
	c.Cost = "none: the rows are computed from the release and from public lists alone (post-processing)"
	c.Public = []string{
		fmt.Sprintf("a user's mean number of items is %g times the released mean that counts each item of a user, at "+
			"least %g", meanShare, fewest),
		"as many factors as eigenvalues of the released matrix lie beyond the edge of its noise, 2 sigma sqrt(items)",
		"the seed, and the number of users",
	}
	c.Kept = []string{
		"how often each item of the matrix is there, in proportion",
		"how often two of them are there together, as far as the release shows it beyond its noise",
		"a long tail of users' numbers of items",
	}
	c.Lost = []string{
		fmt.Sprintf("%d of %d items, which are not in the released matrix, have no rows", c.Listed-c.Items, c.Listed),
		"what the noise hides: pairs of rare items, and all structure of more dimensions than the factors",
		"what three items or more do together, beyond what their pairs say",
		"times and orders: the rows of a user are in random order, and sequences are not claimed",
		"ratings, features of users, and who anybody is: no synthetic user stands for a person",
	}
	if c.Factors == 0 {
		c.Lost[1] = "all pairs of items: the noise hides them, so items are there apart from each other"
	}
}

// guarantee returns the privacy of the rows in one sentence.
func (c Card) guarantee() string {
	if c.Privacy.Total == nil || math.IsInf(float64(*c.Privacy.Total), 1) {
		return "no guarantee: " + c.Privacy.Conclusion
	}
	var all []string
	for _, u := range c.Privacy.Units {
		all = append(all, fmt.Sprintf("epsilon %.5g at delta %g for one %s more or less", float64(u.Total), u.Delta,
			u.Unit))
	}
	return strings.Join(all, ", ")
}

// mechanism names the releases beneath the rows.
func (c Card) mechanism() string {
	if c.Privacy.Claimed == nil {
		return "not known"
	}
	return c.Privacy.Claimed.Theorem
}

// JSON writes the card for programs.
func (c Card) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(c)
}

// Markdown writes the card for readers.
func (c Card) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n", c.Name, strings.ToUpper(c.What[:1])+c.What[1:])
	b.WriteString("| | |\n| --- | --- |\n")
	seal := "none"
	if c.Run.Seal != nil {
		seal = c.Run.Seal.Chain
	}
	for _, row := range [][2]string{
		{"privacy", c.guarantee()}, {"mechanism", c.mechanism()}, {"further cost of these rows", c.Cost},
		{"ledger", fmt.Sprintf("ledger.jsonl, SHA-256 %s, last check %s", c.Run.Ledger, seal)},
		{"run", fmt.Sprintf("%s, configuration %s", c.Run.Task, c.Run.Config)},
		{"users", fmt.Sprintf("%d drawn, %d with rows", c.Users, c.Shown)}, {"rows", fmt.Sprint(c.Rows)},
		{"items", fmt.Sprintf("%d of %d", c.Items, c.Listed)}, {"factors", fmt.Sprint(c.Factors)},
		{"seed", fmt.Sprint(c.Seed)},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], strings.ReplaceAll(row[1], "|", "\\|"))
	}
	list := func(title string, items []string) {
		if len(items) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n- %s\n", title, strings.Join(items, "\n- "))
		}
	}
	list("What is kept", c.Kept)
	list("What is not kept", c.Lost)
	list("What is chosen in public", c.Public)
	public := make([]string, len(c.Privacy.Public))
	for k, p := range c.Privacy.Public {
		public[k] = p.String()
	}
	list("What the guarantee takes as public", public)
	list("Warnings", c.Privacy.Warnings)
	_, err := io.WriteString(w, b.String())
	return err
}

// Document returns a report of the rows that were written.
func (c Card) Document(dir string) *report.Document {
	d := &report.Document{Title: "Synthetic users of " + c.Run.Method + " on " + c.Run.Data, Facts: []report.Fact{
		{Label: "written", Value: dir, Note: strings.Join(c.Files, ", ")},
		{Label: "privacy", Value: c.guarantee(), Note: c.mechanism()},
		{Label: "further cost", Value: "none", Note: "the rows are computed from the release and public lists alone"},
		{Label: "users", Value: fmt.Sprint(c.Users), Note: fmt.Sprintf("%d with rows", c.Shown)},
		{Label: "rows", Value: fmt.Sprint(c.Rows)},
		{Label: "items", Value: fmt.Sprintf("%d of %d", c.Items, c.Listed),
			Note: "those of the released matrix"},
		{Label: "factors", Value: fmt.Sprint(c.Factors), Note: "eigenvalues of the release beyond its noise"},
	}}
	for _, x := range c.Lost {
		d.Notes = append(d.Notes, "not kept: "+x)
	}
	d.Notes = append(d.Notes, c.Privacy.Warnings...)
	return d
}
