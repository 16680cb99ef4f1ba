package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// Recipe lists the steps from a raw log to sequences, in the order of the fields, and the counts that it must reach. A
// zero field switches its step off.
type Recipe struct {
	Name      string
	About     string  // one line: which preprocessing this is
	Dedupe    Dedupe  // of (user, item) pairs
	MinRating float32 // keep rows with at least this rating
	MinItem   int     // keep items with at least this many rows, in one pass
	MinUser   int     // then users with at least this many rows, in one pass
	Core      int     // k of the iterated k-core
	LastN     int     // keep the last rows of each user, without filtering again
	Split     Split   // required
	Digest    string  // of the rows that were published with their split, see Log.Digest; "" where none is known
	Ratings   bool    // keep the ratings of the training rows, for a model that uses them
	// keep the times of all rows, where the source has them, for a model that divides sequences by them
	Times    bool
	Features []string // user features that the model takes, nil for none
	Known    bool     // keep ratings and all user features where the source has them, for data of any form
	Wants    []Want
	Notes    []string // differences from the paper to print with the data
}

// Steps returns the filtering steps as text, which is the key of a cache entry.
func (r Recipe) Steps() string {
	return fmt.Sprintf("dedupe=%d rating>=%g item>=%d user>=%d core=%d last=%d", r.Dedupe, r.MinRating, r.MinItem,
		r.MinUser, r.Core, r.LastN)
}

// Filter returns the rows after the steps before the split, and their ladder, which starts at the raw counts.
func (r Recipe) Filter(l *Log) (*Log, Ladder, error) {
	ladder := append(Ladder{}, l.Ladder...)
	if len(ladder) == 0 {
		ladder = append(ladder, l.Rung(RungRaw))
	}
	if r.Dedupe != KeepRepeats {
		l = l.Dedupe(r.Dedupe)
		ladder = append(ladder, l.Rung("distinct pairs"))
	}
	if r.MinRating != 0 {
		var err error
		if l, err = l.MinRating(r.MinRating); err != nil {
			return nil, ladder, err
		}
		ladder = append(ladder, l.Rung(ratingRung(r.MinRating)))
	}
	for _, m := range []struct {
		least int
		what  string
		step  func(*Log, int) (*Log, error)
	}{{r.MinItem, "items", (*Log).MinItem}, {r.MinUser, "users", (*Log).MinUser}} {
		if m.least > 0 {
			var err error
			if l, err = m.step(l, m.least); err != nil {
				return nil, ladder, err
			}
			ladder = append(ladder, l.Rung(minRung(m.what, m.least)))
		}
	}
	if r.Core > 0 {
		out, rungs, err := l.Core(r.Core)
		ladder = append(ladder, rungs...)
		if err != nil {
			return nil, ladder, err
		}
		l = out
	}
	if r.LastN > 0 {
		l = l.LastN(r.LastN)
		ladder = append(ladder, l.Rung(fmt.Sprintf("last %d", r.LastN)))
	}
	return l, ladder, nil
}

// Apply returns the result of the whole recipe on a log in memory. features may be nil if the recipe takes none. The
// result's Source has no Files.
func (r Recipe) Apply(l *Log, features *Features) (*Sequential, error) {
	filtered, ladder, err := r.Filter(l)
	if err != nil {
		return nil, err
	}
	return r.Finish(filtered, ladder, features)
}

// Finish returns a filtered log split and renumbered, with its counts compared with the expected ones.
func (r Recipe) Finish(l *Log, ladder Ladder, features *Features) (*Sequential, error) {
	parts, err := r.Split.Parts(l)
	if err != nil {
		return nil, err
	}
	s := sequence(l, parts)
	if s.Items == 0 {
		return nil, &Error{File: l.Name, Msg: fmt.Sprintf("split %q leaves no training rows", r.Split.Kind)}
	}
	s.Recipe = r.Name
	if r.Ratings || r.Known && l.Values != nil {
		if l.Values == nil {
			return nil, &Error{File: l.Name, Field: "rating", Msg: "the recipe keeps ratings but the data have none"}
		}
		s.Ratings = ratings(l, parts)
	}
	if r.Times && l.Times != nil {
		s.Times = s.times(l, parts)
	}
	s.Ladder = append(append(Ladder{}, ladder...), s.Ladder...)
	s.CandidatesCore = candidates(ladder)
	if len(r.Features) > 0 {
		if features == nil {
			return nil, &Error{File: l.Name, Field: strings.Join(r.Features, ", "),
				Msg: "the recipe takes user features but the data have none"}
		}
		if s.Features, err = features.For(s.UserIDs, r.Features); err != nil {
			if e, ok := err.(*Error); ok && e.File == "" {
				e.File = l.Name
			}
			return nil, err
		}
	}
	notes := r.Notes
	if r.Known && features != nil {
		s.Features = features.Cover(s.UserIDs)
		if note := s.Features.note(); note != "" {
			notes = append(slices.Clip(notes), note)
		}
	}
	checks := s.Ladder.Compare(r.Wants)
	from := r.origin(l)
	s.Source = Source{Title: l.Name, Hash: l.Hash, StandIn: l.StandIn, Checks: checks, Notes: notes,
		Level: grade(l.StandIn, from, r.Split.Random(), checks), Decided: r.Decisions(from == splitPublished)}
	if from == splitOther && !l.StandIn {
		s.Source.Notes = append(slices.Clip(notes),
			"these are not the rows of the published split, or they are split another way: results published for "+
				"that split are not about these data")
	}
	return s, nil
}

// candidates returns the number of items after the filters, before truncation.
func candidates(ladder Ladder) int {
	last := ladder[len(ladder)-1]
	for i := len(ladder) - 1; i >= 0; i-- {
		if !strings.HasPrefix(ladder[i].Name, "last ") {
			return ladder[i].Items
		}
	}
	return last.Items
}

// Named returns a name for messages: that of a data set, with the recipe that made its parts if it has one.
func Named(name, recipe string) string {
	if recipe == "" {
		return name
	}
	return name + ", recipe " + recipe
}
