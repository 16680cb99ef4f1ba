package fetch

import (
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset/registry"
)

// Every set of the registry has an entry, and what a fetch puts into a folder is a layout that the set can be read
// from.
func TestSourcesAgreeWithRegistry(t *testing.T) {
	for _, set := range registry.All() {
		src, err := Find(set.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		if (set.StandIn != nil) != src.Generated() {
			t.Errorf("%s: a stand-in has no archive, real data have one", set.Name)
		}
		if set.StandIn == nil && !slices.ContainsFunc(set.Layouts, func(l registry.Layout) bool { return covers(src, l) }) {
			t.Errorf("%s: no layout can be read from the files that a fetch leaves: %v", set.Name, src.places())
		}
	}
}

func covers(s Source, l registry.Layout) bool {
	for _, f := range l.Files {
		if !slices.Contains(s.places(), f) {
			return false
		}
	}
	return true
}

// Every data set that a paper here uses has an entry, and one that must be asked for
// says how.
func TestSourcesAreComplete(t *testing.T) {
	for _, name := range []string{"ml-100k", "ml-1m", "yelp", "tmall", "gowalla", "yelp2018", "amazon-books", "amazon-movies-and-tv",
		"amazon-cds-and-vinyl", "amazon-toys-and-games", "amazon-video-games", "mind-small", "zhihurec"} {
		s, err := Find(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Licence == "" || s.Address == "" || len(s.UsedBy) == 0 || len(s.Recipes) == 0 {
			t.Errorf("%s: something is not stated: %+v", name, s)
		}
		if s.Manual != "" && !strings.Contains(s.Manual, "--from") {
			t.Errorf("%s: does not say what to do with the copy: %s", name, s.Manual)
		}
	}
	if _, err := Find("nothing"); err == nil || !strings.Contains(err.Error(), "unknown data set") {
		t.Errorf("unknown set: %v", err)
	}
}

func TestBadSources(t *testing.T) {
	const good = "url: https://a.b/x.zip, bytes: 1, sha256: '0000000000000000000000000000000000000000000000000000000000000000', files: [x/y]"
	for _, c := range []struct{ name, archive, want string }{
		{"good", good, ""},
		{"not the web", strings.Replace(good, "https", "file", 1), "not the address"},
		{"short hash", strings.Replace(good, "0000", "", 1), "hexadecimal"},
		{"no hash", "url: https://a.b/x.zip, bytes: 1, files: [x]", "needs a sha256"},
		{"no size", strings.Replace(good, "bytes: 1, ", "", 1), "needs bytes"},
		{"nothing taken", strings.Replace(good, "x/y", "", 1), "no files"},
		{"file leaves", strings.Replace(good, "x/y", "../y", 1), "leaves"},
		{"folder leaves", good + ", into: /etc", "leaves"},
		{"same place", strings.Replace(good, "x/y", "x/y, z/y", 1), "two files"},
		{"no address", strings.Replace(good, "url: https://a.b/x.zip", "name: x.zip", 1), "by hand"},
		{"unknown key", good + ", sha: 1", "sha"},
		{"hash of nothing", good + ", hashes: [{file: q, sha256: '00'}]", "no such file"},
	} {
		_, err := parse("s.yaml", []byte("sets:\n  - {name: ml-1m, archives: [{"+c.archive+"}]}\n"))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
	for _, name := range []string{"''", "../x", "a/b", ".hidden", "ml-2m", "ml-1m}\n  - {name: ml-1m"} {
		if _, err := parse("s.yaml", []byte("sets:\n  - {name: "+name+"}\n")); err == nil {
			t.Errorf("name %s is taken", name)
		}
	}
}
