package protect

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/perturb"
)

// What cannot be read as it was meant is refused with its file, and with its line where
// it has one.
func TestWhatFilesOfSlatesGetWrong(t *testing.T) {
	const two = "user_id\titem_1\titem_2\na\tx\ty\n"
	for name, c := range map[string]struct {
		in, out, catalogue, vectors, replace, file, want string
		line                                             int
	}{
		"columns from 0":        {in: "user_id\titem_0\titem_1\na\tx\ty\n", file: "in.tsv", line: 1, want: "item_0"},
		"a column left out":     {in: "user_id\titem_1\titem_2\titem_4\na\tx\ty\tz\n", file: "in.tsv", line: 1, want: "item_4"},
		"counts beyond 2^64":    {in: two, catalogue: "item_id\tcount\nx\t9223372036854775807\ny\t9223372036854775807\nz\t9223372036854775807\n", replace: ReplacePopularity, file: "all.tsv", want: "2^64"},
		"a user with a space":   {in: "user_id\titem_1\na\tx\nb c\ty\n", out: "out.txt", catalogue: "item_id\nx\ny\nz\n", file: "in.tsv", line: 3, want: "separator"},
		"an item with a space":  {in: "user_id\titem_1\na\tx\n", out: "out.txt", catalogue: "item_id\nx\ny z\n", file: "all.tsv", want: "separator"},
		"a vector beyond range": {in: "user_id\titem_1\na\tx\n", catalogue: "item_id\nx\ny\n", vectors: "item_id\tv\nx\t1e300\n", file: "v.tsv", line: 2, want: "1e300"},
	} {
		dir := t.TempDir()
		o := FileOptions{Method: Method{Ratio: 0.5, Replace: c.replace}, Settings: perturb.Settings{In: put(t, dir, "in.tsv", c.in), Out: filepath.Join(dir, "out.tsv"), Workers: 1}}
		if c.out != "" {
			o.Out = filepath.Join(dir, c.out)
		}
		if c.catalogue != "" {
			o.Catalogue = put(t, dir, "all.tsv", c.catalogue)
		}
		if c.vectors != "" {
			o.Vectors, o.Select, o.Reference = put(t, dir, "v.tsv", c.vectors), SelectSimilar, ReferenceSlate
		}
		_, err := File(context.Background(), o)
		var data *dataset.Error
		if !errors.As(err, &data) || filepath.Base(data.File) != c.file || data.Line != c.line || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Rows of vectors and histories that are passed over are counted, and of slates with ids
// the report says that these are not protected.
func TestReportOfWhatIsPassedOver(t *testing.T) {
	dir := t.TempDir()
	o := FileOptions{Method: Method{Ratio: 0.5, Select: SelectSimilar}, Settings: perturb.Settings{In: put(t, dir, "in.tsv", "user_id\tslate_id\tposition\titem_id\na\ts\t1\tx\n"), Out: filepath.Join(dir, "out.tsv"), Catalogue: put(t, dir, "all.tsv", "item_id\nx\ny\n"), Workers: 1}, Vectors: put(t, dir, "v.tsv", "item_id\tv\nx\t1\nforeign\t1\nstrange\t2\n"), History: put(t, dir, "h.txt", "a x y foreign y\n")}
	if _, err := File(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(get(t, filepath.Join(dir, "out.report.txt"))), " ")
	for _, want := range []string{"vectors of items that are not in the catalogue 2", "rows of the history whose item has no vector 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q:\n%s", want, text)
		}
	}
	o = FileOptions{Method: Method{Replace: ReplaceRR, Epsilon: 1}, Settings: perturb.Settings{In: o.In, Out: o.Out, Catalogue: o.Catalogue, Workers: 1, Force: true}}
	if _, err := File(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if text = get(t, filepath.Join(dir, "out.report.txt")); !strings.Contains(text, "ids of slates") {
		t.Errorf("the report does not say that ids of slates are written as they are:\n%s", text)
	}
}
