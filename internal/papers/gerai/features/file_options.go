package features

import (
	"fmt"
	"math"

	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/perturb/features"
	"privrec/internal/privacy/mechanism/local"
)

// FileOptions says which features to perturb, and how.
type FileOptions struct {
	perturb.Settings // In has ratings, and may be empty; Items is the size of their catalogue

	Attributes     string // table of users and their features
	AttributesForm format.Form
	Columns        []features.Column // of Attributes, as they are sent

	Epsilon float64 // of a user's whole row, or with Each of every feature
	Draw    int     // features that a user sends; 0: as many as the paper says
	Each    bool    // every user sends every feature
	Missing bool    // accept empty fields
}

// sampler returns the mechanism that the options describe.
func (o *FileOptions) sampler() local.FeatureSampler {
	f := local.FeatureSampler{Purpose: o.Purpose, Epsilon: o.Epsilon, Choose: o.Draw}
	if o.In != "" {
		for _, name := range StatisticNames() {
			f.Features = append(f.Features, local.FeatureKind{Name: name})
		}
	}
	for _, c := range o.Columns {
		f.Features = append(f.Features, local.FeatureKind{Name: c.Name, Categories: len(c.Levels)})
	}
	if o.Each {
		f.Choose = len(f.Features)
		f.Epsilon *= float64(f.Choose)
	}
	return f
}

// check sets forms and defaults, and refuses requests that cannot be carried out.
func (o *FileOptions) check() error {
	switch {
	case math.IsNaN(o.Epsilon) || o.Epsilon <= 0:
		return perturb.Refuse("20 is the paper's, of a whole row; one feature then has 2.5",
			"epsilon is %g, want above 0", o.Epsilon)
	case math.IsInf(o.Epsilon, 1):
		return perturb.Refuse("an output without noise is the input", "epsilon is infinite")
	case o.Attributes == "":
		return perturb.Refuse("it names the table of users and their features", "--attributes is missing")
	case o.Out == "":
		return perturb.Refuse("", "--out is missing")
	case o.In != "" && o.Items < 1:
		return perturb.Refuse("give --items M: the size of the public catalogue, not read off the ratings",
			"the size of the catalogue is missing")
	case o.In == "" && o.Items != 0:
		return perturb.Refuse("add --in FILE for statistics of ratings", "--items works only with --in")
	case o.Each && o.Draw != 0:
		return perturb.Refuse("leave out one of them", "--each sends every feature, and --draw says how many")
	}
	if err := features.Check(o.Columns); err != nil {
		return err
	}
	for _, f := range []struct {
		flag, path string
		form       *format.Form
	}{{"in", o.In, &o.InForm}, {"attributes", o.Attributes, &o.AttributesForm}, {"out", o.Out, &o.OutForm}} {
		if err := tableForm(f.flag, f.path, f.form); err != nil {
			return err
		}
	}
	s := o.sampler()
	switch n := len(s.Features); {
	case o.Draw < 0:
		return perturb.Refuse("leave it out for as many as the paper says", "--draw is %d, want at least 1", o.Draw)
	case s.K() > n:
		return perturb.Refuse(fmt.Sprintf("there are %d", n), "--draw is %d: more features than there are", o.Draw)
	}
	return o.Settings.Check(purpose)
}

// tableForm sets the form of a table by its name, if it is not given.
func tableForm(flag, path string, form *format.Form) error {
	if path == "" {
		if *form != "" {
			return perturb.Refuse("name the file too, or leave the form out", "--%s-form works only with --%s", flag,
				flag)
		}
		return nil
	}
	if *form == format.Lines {
		return perturb.Refuse("want tsv, csv or inter", "--%s-form is lines, which have no header", flag)
	}
	known := *form != ""
	if !known {
		*form, known = format.OfInput(path)
	}
	if !known || *form == format.Lines {
		return perturb.Refuse("tables end in .tsv, .csv or .inter, then .gz or .zst; or give --"+flag+"-form",
			"--%s: %q is not the name of a table with a header", flag, path)
	}
	return nil
}
