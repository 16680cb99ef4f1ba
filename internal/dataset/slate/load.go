package slate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
)

// Source describes a set that Load knows by name.
type Source struct {
	Name, Title string
	About       string // one sentence about its pairs
	From        string // where its files come from; "" for a stand-in
	StandIn     bool
	ReadyMade   bool           // its files hold pairs or histories that are no rows of users
	Files       []string       // in the folder of data sets, all needed, each plain or compressed
	Wants       []dataset.Want // the authors' counts of its ladder under the default options

	load func(ctx context.Context, name string, o Options) (*Set, error)
}

// Sources returns all such sets. Load also takes [dataset.OwnPrefix] names: own-shop is the table impressions.tsv or
// impressions.csv, columns user, item, shown_at, clicked_at, in the folder own-shop.
func Sources() []Source {
	return []Source{
		{Name: "exposure-zhihu", Title: "Zhihu pairs of the exposure paper's authors",
			About: "validation and test pairs as published, training slates rebuilt, logged items of every user",
			From:  "tables made of the authors' release, in exposure/zhihu", Files: tableFiles("exposure/zhihu"),
			Wants: zhihuTables, ReadyMade: true, load: loadZhihu},
		{Name: "exposure-mind", Title: "MIND pairs of the exposure paper's authors",
			About: "the published validation pairs train, test users are halved; the other shown items are not known",
			From:  "tables made of the authors' release, in exposure/mind", Files: tableFiles("exposure/mind"),
			Wants: mindTables, ReadyMade: true, load: loadMIND},
		{Name: "zhihurec", Title: "ZhihuRec impressions", About: "windows over the clicks of inter_impression.csv",
			From: zhihuAddress, Files: []string{"zhihurec/inter_impression.csv"}, Wants: zhihuWants,
			load: loadZhihuRec},
		{Name: "mind-small", Title: "MIND-small news impressions",
			About: "pairs of train/behaviors.tsv and dev/behaviors.tsv joined", From: mindAddress,
			Files: []string{"mind-small/train/behaviors.tsv", "mind-small/dev/behaviors.tsv"}, Wants: mindWants,
			ReadyMade: true, load: loadMINDSmall},
		{Name: StandIn, Title: "stand-in slates (synthetic)",
			About: "300 users and 400 items; slates hold neighbours of recent clicks", StandIn: true,
			load: loadStandIn},
	}
}

// StandIn is the name of the generated set.
const StandIn = "standin-slates"

// Load returns the set with a name, read and split. A view that holds out, plants or withholds rows is an error.
func Load(ctx context.Context, name string, v dataset.View, o Options) (*Set, error) {
	if err := v.Refuse(name); err != nil {
		return nil, err
	}
	if o.Seed = v.RowsSeed(); len(v.Forgotten) > 0 {
		o.gone = v.Gone
	}
	if err := o.check(name); err != nil {
		return nil, err
	}
	if v.ByPlace && o.Split != SplitReleased {
		return nil, &dataset.Error{File: name,
			Msg: "the run is of an earlier program, which dealt users to the parts by their place, and cannot be " +
				"asked",
			Hint: "train again with another --out"}
	}
	if err := Find(name); err != nil {
		return nil, err
	}
	for _, s := range Sources() {
		if s.Name == name {
			if s.ReadyMade {
				if err := v.RefuseForgotten(name); err != nil {
					return nil, err
				}
			}
			return s.load(ctx, name, o)
		}
	}
	return loadOwn(ctx, name, o)
}

// Known reports whether a name belongs to a set of slates that is not own data.
func Known(name string) bool {
	return slices.ContainsFunc(Sources(), func(s Source) bool { return s.Name == name })
}

// tableFiles returns the names of the files that tell which pairs of the authors' release are in a folder.
func tableFiles(folder string) []string {
	return []string{folder + "/vocab.tsv", folder + "/sequence2user.tsv", folder + "/val.tsv"}
}

// Absent reports whether some file of a source is not in dir. dir "" takes $PRIVREC_DATA.
func (s Source) Absent(dir string) bool {
	if dir == "" {
		dir = os.Getenv("PRIVREC_DATA")
	}
	for _, f := range s.Files {
		if dir == "" || !registry.Stored(filepath.Join(dir, filepath.FromSlash(f))) {
			return true
		}
	}
	return false
}

// Find returns an error for a name of no set of slates, with a list of the known ones.
func Find(name string) error {
	_, err := registry.Find(name) // knows which names of own data can be folders
	if Known(name) || err == nil && registry.IsOwn(name) {
		return nil
	}
	var known []string
	for _, s := range Sources() {
		known = append(known, s.Name)
	}
	msg := "unknown set of slates"
	if err == nil {
		msg = "is a data set of interactions, and no set of slates: it does not say what users were shown"
	}
	return &dataset.Error{File: name, Msg: msg,
		Hint: registry.Nearest(name, known) +
			fmt.Sprintf("known are %s, and %sNAME for a log of your own, %s or %s in the folder of that name",
				strings.Join(known, ", "), registry.OwnPrefix, ownTSV, ownCSV)}
}

// check fills in defaults and returns an error for values that an option cannot have.
func (o *Options) check(name string) error {
	for _, n := range []struct {
		field string
		at    *int
		other int
	}{{"T", &o.T, 10}, {"L", &o.L, 5}, {"stride", &o.Stride, 1}} {
		if *n.at == 0 {
			*n.at = n.other
		}
		if *n.at < 1 {
			return &dataset.Error{File: name, Field: n.field, Msg: fmt.Sprintf("must be at least 1, got %d", *n.at)}
		}
	}
	if o.Most < 0 {
		return &dataset.Error{File: name, Field: "most",
			Msg: fmt.Sprintf("must be at least 1, or 0 for the default, got %d", o.Most)}
	}
	for _, c := range []struct {
		field string
		at    *string
		known []string
	}{
		{"split", &o.Split, []string{SplitUsers, SplitReleased}},
		{"clicks", &o.Clicks, []string{OrderShown, OrderClicked}},
		{"early", &o.Early, []string{EarlyKeep, EarlyDrop, EarlyRefuse}},
		{"logs", &o.Logs, []string{LogsFile, LogsTime}},
		{"pairing", &o.Pairing, []string{PairIndex, PairLog}},
		{"unknown", &o.Unknown, []string{UnknownOOV, UnknownDrop}},
	} {
		if *c.at == "" {
			*c.at = c.known[0]
		}
		if !slices.Contains(c.known, *c.at) {
			return &dataset.Error{File: name, Field: c.field, Msg: fmt.Sprintf("unknown choice %q", *c.at),
				Hint: "known are " + strings.Join(c.known, ", ")}
		}
	}
	if o.Most == 0 && o.Pairing == PairIndex {
		o.Most = 5
	}
	return nil
}

// dataDir returns the folder of data sets.
func dataDir(name, dir string) (string, error) {
	if dir == "" {
		dir = os.Getenv("PRIVREC_DATA")
	}
	if dir == "" {
		return "", &dataset.Error{File: name, Msg: "no data folder: PRIVREC_DATA is not set", Err: dataset.ErrNotFound,
			Hint: "set PRIVREC_DATA to the folder of data sets; standin-slates needs none"}
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return "", &dataset.Error{File: dir, Msg: "no such folder of data sets", Err: dataset.ErrNotFound,
			Hint: "set PRIVREC_DATA to the folder of data sets; standin-slates needs none"}
	}
	return dir, nil
}
