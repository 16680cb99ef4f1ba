package features

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/report"
)

// FileReport holds the guarantees of perturbed features. The counts describe true data, so they stay with the input.
type FileReport struct {
	perturb.Facts
	Options               FileOptions
	Sampler               local.FeatureSampler
	RatingsDigest         string // "" without ratings
	Users, Ratings, Empty int64
}

// Document returns the report as a document.
func (r *FileReport) Document() *report.Document {
	f := r.Sampler
	n, k := len(f.Features), f.K()
	var before []report.Fact
	if r.RatingsDigest != "" {
		before = append(before, report.Fact{Label: "statistics of", Value: r.Options.In,
			Note: fmt.Sprintf("sha256 %.12s; a catalogue of %d items", r.RatingsDigest, r.Options.Items)})
	}
	sent := report.Fact{Label: "features sent", Value: fmt.Sprintf("%d of %d", k, n), Note: "by each user"}
	if k < n {
		sent.Note = "by each user, drawn at random; the others are 0"
	}
	before = append(before, sent)
	d := r.Facts.Document(fmt.Sprintf("Perturbed features: epsilon %g", f.Epsilon),
		fmt.Sprintf("%d features, %d columns", n, f.Width()), before, nil)
	d.Tables, d.Notes = []*report.Table{r.guarantee(), r.law(), r.counts()}, r.notes()
	return d
}

// guarantee returns a table of the epsilons of all neighbours.
func (r *FileReport) guarantee() *report.Table {
	f := r.Sampler
	t := perturb.GuaranteeTable()
	for m, what := range []string{"one feature of one user", "two features of one user", "three features of one user"} {
		if m < len(f.Features) {
			t.Add(what+", all others the same", CostOf(f, m+1))
		}
	}
	if r.RatingsDigest != "" {
		t.Add(fmt.Sprintf("the ratings of one user, as far as %d statistics tell them", Numbers), CostOf(f, Numbers))
	}
	t.Add(fmt.Sprintf("a whole row: all %d features of one user", len(f.Features)), f.Epsilon)
	if k, n := f.K(), len(f.Features); k < n {
		t.Notes = append(t.Notes,
			fmt.Sprintf("A feature is sent by %.3g %% of the users, which lowers no epsilon: the zeros show which "+
				"features were drawn.", 100*float64(k)/float64(n)))
	}
	return t
}

// law returns a table that says how to estimate from the output.
func (r *FileReport) law() *report.Table {
	f := r.Sampler
	e, share := f.PerFeature(), float64(f.K())/float64(len(f.Features))
	t := &report.Table{Name: "law", Title: "How features come out",
		Columns: []report.Column{{Name: "what"}, {Name: "value", Format: "%.6g"}}}
	t.Add("share of users who send a feature", share)
	number := func(k local.FeatureKind) bool { return k.Categories == 0 }
	category := func(k local.FeatureKind) bool { return k.Categories > 0 }
	if slices.ContainsFunc(f.Features, number) {
		m := local.Piecewise{Epsilon: e}
		t.Add("largest number", m.C()/share)
		t.Add("standard deviation of a number at 0", standardDeviation(m.Variance(0), share, 0))
		t.Add("standard deviation of a number at 1", standardDeviation(m.Variance(1), share, 1))
		t.Notes = append(t.Notes, "Numbers are scaled from their range to [-1, 1], and right on average.")
	}
	if slices.ContainsFunc(f.Features, category) {
		u := local.UnaryEncoding{Epsilon: e}
		t.Add("chance that the bit of the true level is 1, where it is sent", u.P())
		t.Add("chance that the bit of another level is 1, where it is sent", u.Q())
		t.Notes = append(t.Notes,
			fmt.Sprintf("The share of a level is estimated without bias by (mean of its column/%.6g - %.6g)/%.6g.",
				share, u.Q(), u.P()-u.Q()))
	}
	return t
}

func (r *FileReport) counts() *report.Table {
	t := perturb.CountsTable()
	t.Add("users", r.Users)
	if r.RatingsDigest != "" {
		t.Add("ratings", r.Ratings)
	}
	t.Add("empty fields", r.Empty)
	return t
}

func (r *FileReport) notes() []string {
	notes := []string{
		perturb.CountsNote("rows"),
		"Protected are the features of the users. Who the users are is not, nor the declared ranges and levels.",
		"A feature that follows from others is not hidden by its own epsilon: one feature is compared with all " +
			"others the same.",
		perturb.SecondNote("users"),
	}
	if r.RatingsDigest != "" {
		notes = append(notes, "The statistics are functions of private ratings. Their epsilon covers the statistics "+
			"alone: ratings that are given away in another way, as to a recommender, are not covered.")
	}
	if r.Noise == privacy.Research {
		notes = append(notes, perturb.ResearchNote)
	}
	return notes
}

// standardDeviation returns the standard deviation of the report of a number x: the output of a mechanism with a
// variance, sent with probability share and divided by it.
func standardDeviation(variance, share, x float64) float64 {
	return math.Sqrt((variance+x*x)/share - x*x)
}
