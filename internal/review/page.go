package review

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"strings"

	"privrec/internal/calculator"
	"privrec/internal/experiment"
	"privrec/internal/report"
)

// HTML writes the page.
func (r *Review) HTML(w io.Writer) error { return r.Page().HTML(w) }

// Page returns the review as a page: the answers first, then what an attacker gains, the meaning of the words, the
// assumptions of the account, and what to ask.
func (r *Review) Page() *report.Page {
	d := &report.Page{Title: "Privacy review: " + r.Subject, Subtitle: r.Kind + ": " + r.Source,
		Conclusion: r.Conclusion(), Facts: r.facts(), Style: report.Markup(style)}
	if len(r.Open) > 0 {
		var list report.Notes
		for _, o := range r.Open {
			list = append(list, thing(o))
		}
		d.Parts = append(d.Parts, report.Section{ID: "open", Title: "What leaves without protection",
			Parts: []report.Part{
				report.Prose{"No noise covers these. What they flow into may tell of single people, and no limit to " +
					"that " +
					"can be stated."}, list}})
	}
	d.Parts = append(d.Parts, r.gains())
	if len(r.Warnings) > 0 {
		var list report.Notes
		for _, x := range r.Warnings {
			list = append(list, sentence(strings.ReplaceAll(x.Name, "-", " ")+": "+x.Message))
		}
		d.Parts = append(d.Parts, report.Section{ID: "warnings", Title: "What does not fit",
			Parts: []report.Part{list}})
	}
	if len(r.Ask) > 0 {
		d.Parts = append(d.Parts, report.Section{ID: "ask", Title: "What to ask those who made it",
			Parts: []report.Part{r.asked()}})
	}
	d.Parts = append(d.Parts, r.numbers(), r.words())
	return d
}

// thing returns a sentence about something open, with the reason.
func thing(o Open) string {
	return sentence(experiment.Thing(o.What) + ": " + o.Why)
}

// Conclusion returns one or two sentences on what the release guarantees.
func (r *Review) Conclusion() string {
	g, ok := r.main()
	switch {
	case r.NotKnown != "":
		return sentence("not known: " + r.NotKnown + "; it may be private or not, and this page can say neither")
	case r.Nothing != "":
		return "Nothing is promised: " + r.Nothing +
			". Treat what it released as if it showed every row that it was made of."
	case !ok:
		return sentence("nothing is protected: " + openNames(r.Open) +
			" leave without noise, and no noise is added to anything")
	case !r.bounded():
		text := "No guarantee"
		if len(r.Open) > 0 {
			text += ": nothing protects " + openNames(r.Open)
		}
		if !math.IsInf(g.Covered, 1) {
			text += fmt.Sprintf(". The noise that was added would come to epsilon %s for one %s if nothing else had "+
				"left", up(g.Covered, 4), one(g.Unit))
		}
		return sentence(text)
	}
	text := fmt.Sprintf("One %s is protected up to epsilon %s", one(g.Unit), up(g.Epsilon, 4))
	if g.AtLeast {
		text += " so far"
	}
	if len(g.Otherwise) > 0 {
		text += " if what the file does not say is so; " +
			g.otherwise(func(o calculator.Otherwise) string { return up(o.Epsilon, 4) })
	}
	if g.Risk != nil {
		text += fmt.Sprintf(": an attacker who must tell whether that %s is in the data is right at most %s times in "+
			"100", one(g.Unit), times(rightAtEven(g.Risk)))
		if len(g.Otherwise) > 0 {
			text += "; " + g.otherwise(func(o calculator.Otherwise) string {
				if o.Risk == nil {
					return "100"
				}
				return times(rightAtEven(o.Risk))
			})
		}
		text += "; guessing is right 50 times"
	} else {
		text += fmt.Sprintf(": anything concluded from what was released becomes at most %s likelier by it",
			factor(g.Epsilon))
	}
	if g.Epsilon > 10 {
		text += ". That rules out little"
	}
	for _, c := range r.Claims {
		if c.Unit == g.Unit && c.Epsilon < g.Epsilon*(1-claimTolerance) {
			text += fmt.Sprintf(". The claimed epsilon, %s, does not hold", up(c.Epsilon, 4))
		}
	}
	if n := len(r.Warnings); n > 0 {
		text += ". " + warned(n)
	}
	return sentence(text)
}

// otherwise returns a number for each case in which an assumption of the guarantee does not hold.
func (g Guarantee) otherwise(number func(calculator.Otherwise) string) string {
	var list []string
	for _, o := range g.Otherwise {
		list = append(list, number(o)+" if "+o.If)
	}
	return strings.Join(list, ", ")
}

// claimTolerance is the relative amount by which a claim may be below the account, since claims have few digits.
const claimTolerance = 0.005

// times returns a probability as a number out of a hundred, rounded up.
func times(p float64) string { return plain(math.Ceil(100*math.Min(1, p) - 1e-9)) }

// warned returns a sentence with the number of warnings.
func warned(n int) string {
	if n == 1 {
		return "One warning below says what does not fit"
	}
	return fmt.Sprintf("%d warnings below say what does not fit", n)
}

// facts returns the answers at the top: whose data, how much, what is open, what is claimed.
func (r *Review) facts() (list []report.Fact) {
	g, ok := r.main()
	add := func(label, value, note string) {
		list = append(list, report.Fact{Label: label, Value: value, Note: note})
	}
	switch {
	case r.NotKnown != "":
		for _, label := range []string{"Whose data (unit)", "How much (epsilon)", "What is not protected"} {
			add(label, "not known", "")
		}
		return list
	case !ok:
		add("Whose data (unit)", "no unit", "no guarantee is stated for anyone")
		add("How much (epsilon)", "no bound", "nothing limits what the release tells about a person")
	default:
		add("Whose data (unit)", "one "+one(g.Unit), meaning(g.Unit))
		value, note := up(g.Epsilon, 4), "0 tells nothing, 1 is strong, above 10 rules out little"
		if math.IsInf(g.Epsilon, 1) {
			value, note = "no bound", "of everything that was released"
			if !math.IsInf(g.Covered, 1) {
				note += "; the noise alone: " + up(g.Covered, 4)
			}
		}
		if g.AtLeast && !math.IsInf(g.Epsilon, 1) {
			value = "at least " + value
		}
		if len(g.Otherwise) > 0 {
			note = g.otherwise(func(o calculator.Otherwise) string { return up(o.Epsilon, 4) }) + "; " + note
			value += ", by what is assumed"
		}
		add("How much (epsilon)", value, note)
	}
	open, note := "nothing that is listed", "all releases that it lists have noise"
	if n := len(r.Public); n > 0 {
		note += fmt.Sprintf("; %s taken as public, see below",
			map[bool]string{true: "1 thing is", false: fmt.Sprintf("%d things are", n)}[n == 1])
	}
	if r.Unsaid > 0 {
		note += "; the file does not say everything, see the questions"
	}
	if len(r.Open) > 0 {
		open, note = counted(len(r.Open), "thing"), openNames(r.Open)
	} else if !ok || math.IsInf(g.Epsilon, 1) {
		open, note = "everything", "no noise with a known effect covers it"
		if r.Nothing == "" && ok {
			open, note = "see the warnings", "what the noise means for this unit is not known"
		}
	}
	add("What is not protected", open, note)
	if ok && g.Delta > 0 {
		note := "the chance that is set aside"
		if r.Records > 0 {
			note += fmt.Sprintf(": there are %s %s", group(r.Records), many(g.Unit))
		}
		add("Set aside (delta)", oddsIn(g.Delta), note)
	}
	for _, c := range r.Claims {
		note := "for one " + one(c.Unit)
		if c.By != "" {
			note += ", by " + c.By
		}
		if g.Stated > 0 {
			note += "; the file's own numbers come to " + up(g.Stated, 4)
		}
		add("Claimed epsilon", up(c.Epsilon, 4), note)
	}
	if len(r.Claims) == 0 && ok {
		note := "no epsilon is stated elsewhere"
		if g.Stated > 0 {
			note = "the file's own numbers come to " + up(g.Stated, 4)
		}
		add("Claimed epsilon", "none", note)
	}
	return list
}

// counted returns n with a noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

//go:embed review.css
var style string

// mostAsked is the largest number of questions on a page, which has two sheets.
const mostAsked = 10

// asked returns the list of questions.
func (r *Review) asked() report.Part {
	var list report.Steps
	for _, x := range r.Ask {
		list = append(list, sentence(x))
	}
	if more := len(list) - mostAsked; more > 0 {
		list = append(list[:mostAsked:mostAsked], fmt.Sprintf("And %d more, which privrec account lists.", more))
	}
	return list
}

// numbers returns a table of all guarantees, if there are several, and their assumptions.
func (r *Review) numbers() report.Part {
	var parts []report.Part
	if len(r.Guarantees) > 1 {
		t := &report.Table{Name: "units", Title: "For every unit", Columns: report.Columns("", "of one", "compared are",
			"delta", "epsilon of everything", "of the noise alone")}
		for _, g := range r.Guarantees {
			delta := "0"
			if g.Delta > 0 {
				delta = plain(g.Delta)
			}
			t.Add(one(g.Unit), compared(g.Neighbours, g.Unit), delta, up(g.Epsilon, 4), up(g.Covered, 4))
		}
		parts = append(parts, t)
	}
	var list report.Notes
	if g, ok := r.main(); ok && !math.IsInf(g.Covered, 1) && g.Lower > 0 {
		list = append(list, fmt.Sprintf(
			"The epsilon of the noise is proved to lie between %s and %s: it is neither a guess nor far too careful.",
			down(g.Lower, 4), up(g.Covered, 4)))
	}
	if len(r.Released) > 0 {
		list = append(list, "What leaves: "+strings.Join(r.Released, ", ")+".")
	}
	for _, p := range r.Public {
		list = append(list, sentence("taken as public, and not protected: "+p))
	}
	if r.Noise != "" {
		list = append(list, sentence("the noise was drawn "+r.Noise))
	}
	for _, x := range r.Rests {
		list = append(list, sentence(x))
	}
	source := r.Kind + ", " + r.Source
	if r.Hash != "" {
		source += ", SHA-256 " + r.Hash
	}
	list = append(list, sentence("made by privrec report privacy from "+source)+" The same source gives the same page.")
	return report.Section{ID: "rests", Title: "What the numbers rest on", Parts: append(parts, list)}
}

// words returns a part that explains the words.
func (r *Review) words() report.Part {
	g, ok := r.main()
	list := report.Notes{}
	if ok {
		list = append(list, fmt.Sprintf("Unit: whose data are hidden as a whole. Here it is one %s. What belongs to "+
			"several of them is protected less.", one(g.Unit)))
		list = append(list, fmt.Sprintf("Neighbours: what is compared. Here these are %s. A guarantee says that an "+
			"observer can hardly tell the two apart.", compared(g.Neighbours, g.Unit)))
	}
	list = append(list,
		"Epsilon: how far the two can differ at most, whatever the observer knows and computes. Anything concluded "+
			"becomes at most e^epsilon times likelier: 1.1 times at 0.1, 2.7 at 1, 20 at 3, 22,000 at 10. Epsilons "+
			"of several releases about the same people add up.",
		"Delta: a probability that is set aside, in which the limit may be exceeded. It must be far below one over "+
			"the number of people, or publishing one of them whole would be allowed.",
		"No bound: something leaves without noise, so no number limits what it tells. That is no proof of a leak; it "+
			"says that none can be ruled out.",
		"At most: all numbers here are upper bounds, for any attacker. What today's attacks find is less, and says "+
			"less about tomorrow's.",
	)
	return report.Section{ID: "words", Title: "What the words mean", Parts: []report.Part{list}}
}

// down returns a positive number as text with a number of digits, never above it.
func down(v float64, digits int) string {
	if !(v > 0) || math.IsInf(v, 1) {
		return plain(v)
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-float64(digits-1))
	return fmt.Sprintf("%.*g", digits, math.Floor(v/unit*(1+1e-12))*unit)
}
