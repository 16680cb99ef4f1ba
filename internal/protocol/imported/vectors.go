package imported

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/lists"
	"privrec/internal/run"
	"privrec/internal/tensor"
	"privrec/internal/vectors"
)

// VectorsConfig describes a model that is known by its vectors of users and items.
type VectorsConfig struct {
	Common  `yaml:",inline"`
	Vectors VectorFiles `yaml:"vectors"`
	Kept    string      `yaml:"-"` // the folder of the run's own copies; empty: the files are those of Vectors
}

// VectorFiles names the files of vectors: .npy, .npz, .safetensors or Parquet. Each list has users first, then items;
// one text with a comma in it stands for two.
type VectorFiles struct {
	Files []string `yaml:"files"` // two files, or one that holds both
	// Names lists the names of the arrays in the files; empty: users or user, and items or item. A file with one
	// array alone needs none.
	Names []string `yaml:"names"`
	// IDs names files with the ids of the rows: one id a line, or a column of a table or of Parquet. Empty: the files
	// of vectors have a column of ids.
	IDs []string `yaml:"ids"`
	// columns of ids in the files of ids; empty: the one that is called user_id, item_id or id
	Columns    []string `yaml:"columns"`
	RowNumbers bool     `yaml:"row_numbers"`                // true: ids are row numbers, from 0
	Score      string   `yaml:"score" limit:"inner|cosine"` // how items are scored: inner (inner product) or cosine
	// Biases names files, or arrays in the files, with a number for each user and each item that is added to the
	// inner product. One name: items only. Empty: none.
	Biases []string `yaml:"biases"`
}

// The scores.
const (
	scoreInner  = "inner"
	scoreCosine = "cosine"
)

// Vectors returns the form of models that are known by the vectors of users and items. Items are ranked here.
func Vectors() Form[VectorsConfig] {
	list := func(name, key, usage string) run.Flag {
		return run.Flag{Name: name, Key: "vectors." + key, Usage: usage, List: true}
	}
	return Form[VectorsConfig]{
		Name: "vectors", Summary: "make a run of the vectors of another program's model",
		Flags: []run.Flag{
			list("vectors", "files", "files of users and items, with a comma between; or one that holds both"),
			list("names", "names", "names of the two arrays in the files"),
			list("ids", "ids", "files of the ids of users and items, with a comma between"),
			{Name: "row-numbers", Key: "vectors.row_numbers", Usage: "the numbers of the rows, from 0, are the ids",
				Switch: true},
			{Name: "score", Key: "vectors.score", Usage: "what ranks items: inner (product) or cosine"},
			list("biases", "biases", "files or arrays with a number for each user and each item"),
		},
		Default: func() VectorsConfig {
			c := VectorsConfig{Common: DefaultCommon()}
			c.Vectors.Score = scoreInner
			return c
		},
		Check: func(v *config.Checker, c VectorsConfig) {
			for _, l := range []struct {
				key  string
				of   []string
				most int
			}{{"files", c.Vectors.Files, 2}, {"names", c.Vectors.Names, 2}, {"ids", c.Vectors.IDs, 2},
				{"columns", c.Vectors.Columns, 2}, {"biases", c.Vectors.Biases, 2}} {
				v.Check(len(pair(l.of)) <= l.most, "vectors."+l.key, "must be at most %d, of users and items, is %d",
					l.most, len(pair(l.of)))
			}
			v.Check(len(c.Vectors.Names) == 0 || len(pair(c.Vectors.Names)) == 2, "vectors.names",
				"must be two, of users and items")
			v.Check(len(c.Vectors.IDs) == 0 || len(pair(c.Vectors.IDs)) == 2, "vectors.ids",
				"must be two files, of users and items")
			v.Check(len(c.Vectors.Columns) == 0 || len(c.Vectors.IDs) > 0, "vectors.columns",
				"are of files of ids, and none is named")
			v.Check(!c.Vectors.RowNumbers || len(c.Vectors.IDs) == 0, "vectors.row_numbers",
				"is not read where files of ids are named")
			v.Check(c.Vectors.Score != scoreCosine || len(c.Vectors.Biases) == 0, "vectors.biases",
				"are added to inner products, not to cosines")
		},
		Common: func(c *VectorsConfig) *Common { return &c.Common },
		Load: func(ctx context.Context, c VectorsConfig, ids *lists.IDs) (Parsed, error) {
			if c.Kept != "" {
				return readKept(ctx, c.Kept, ids)
			}
			return readVectors(ctx, c.Vectors, ids)
		},
		Kept: func(c *VectorsConfig, folder string) { c.Kept = folder },
	}
}

// pair splits a single text at its commas.
func pair(of []string) []string {
	if len(of) == 1 && of[0] != "" {
		return strings.Split(of[0], ",")
	}
	return of
}

// side holds the vectors of users, or of items, as read.
type side struct {
	name string // user or item
	path string
	rows tensor.Matrix
	ids  []string
	of   []int32 // the number of each row's id among those of all files
	bias []tensor.Float
}

// sides names the two sides.
var sides = [2]string{"user", "item"}

// readVectors reads the files of vectors and their ids.
func readVectors(ctx context.Context, c VectorFiles, ids *lists.IDs) (Parsed, error) {
	files := pair(c.Files)
	if len(files) == 0 || files[0] == "" {
		return nil, &run.UsageError{Message: "no file of vectors is named",
			Fix: "name files of users and items with --vectors, a comma between"}
	}
	p := &parsedVectors{sides: [2]*side{{name: "user"}, {name: "item"}}}
	wants := [2]vectors.Want{c.want(0), c.want(1)}
	var own [2][]string // ids in the files
	enter := func(f *vectors.File, k int, t vectors.Table) {
		p.sides[k].path, p.sides[k].rows, own[k] = f.Path, t.Rows, t.IDs
	}
	if len(files) == 1 {
		f, err := p.read(ctx, files[0], wants[:]...)
		if err != nil {
			return nil, err
		}
		enter(f, 0, f.Tables[0])
		enter(f, 1, f.Tables[1])
	}
	for k, path := range files {
		if len(files) == 1 {
			break
		}
		f, err := p.read(ctx, path, wants[k])
		if err != nil {
			return nil, err
		}
		enter(f, k, f.Tables[0])
	}
	if u, i := p.sides[0], p.sides[1]; u.rows.Cols != i.rows.Cols {
		return nil, &dataset.Error{File: i.path, Msg: fmt.Sprintf("items have %d numbers each, and users %d",
			i.rows.Cols, u.rows.Cols), Hint: "are rows and columns of one of them exchanged?"}
	}
	for k, s := range p.sides {
		if err := p.name(ctx, s, c, k, own[k]); err != nil {
			return nil, err
		}
	}
	if err := p.biases(ctx, pair(c.Biases), files); err != nil {
		return nil, err
	}
	if c.Score == scoreCosine {
		for _, s := range p.sides {
			direct(s.rows)
		}
	}
	for k, s := range p.sides {
		number(s, k, ids)
	}
	return p, nil
}

// want returns the name and the shape of the array of a side to read.
func (c VectorFiles) want(k int) (w vectors.Want) {
	if names := pair(c.Names); len(names) == 2 {
		w.Names = names[k : k+1]
	} else if len(pair(c.Files)) == 1 {
		w.Names = []string{sides[k] + "s", sides[k]}
	}
	return w
}

// Side holds the vectors of users, or of items.
type Side struct {
	Path  string
	Rows  tensor.Matrix // ready for the inner product that ranks
	IDs   []string      // of the rows
	Files []dataset.File
}

// ReadSide reads the vectors of users (side 0) or of items (side 1), as the import does, for programs that do not hold
// both.
func ReadSide(ctx context.Context, c VectorFiles, k int) (*Side, error) {
	files := pair(c.Files)
	if len(files) == 0 || files[0] == "" {
		return nil, &run.UsageError{Message: "no file of vectors is named", Fix: "name files of users and items"}
	}
	p := &parsedVectors{sides: [2]*side{{name: "user"}, {name: "item"}}}
	f, err := p.read(ctx, files[min(k, len(files)-1)], c.want(k))
	if err != nil {
		return nil, err
	}
	s, t := p.sides[k], f.Tables[0]
	if len(files) == 1 && t.Name == "" {
		return nil, &dataset.Error{File: f.Path, Msg: f.Form + ": one array in the file, and 2 are wanted"}
	}
	s.path, s.rows = f.Path, t.Rows
	if err := p.name(ctx, s, c, k, t.IDs); err != nil {
		return nil, err
	}
	named := pair(c.Biases)
	if err := p.bias(ctx, named, files, k); err != nil {
		return nil, err
	}
	p.widen(k, named)
	if c.Score == scoreCosine {
		direct(s.rows)
	}
	return &Side{f.Path, s.rows, s.ids, p.files}, nil
}

// number assigns the ids of a side their numbers among those of all files.
func number(s *side, k int, ids *lists.IDs) {
	in := &ids.Users
	if k == 1 {
		in = &ids.Items
	}
	s.of = make([]int32, len(s.ids))
	for i, id := range s.ids {
		s.of[i] = in.ID([]byte(id))
	}
}

// parsedVectors is files of vectors. It implements Parsed.
type parsedVectors struct {
	sides   [2]*side
	files   []dataset.File
	without [2]map[string]bool // of a run's own copies: ids whose rows stand for no vector
	left    []string           // sentences on what the files of ids hold that is not read
}

// Files implements Parsed.
func (p *parsedVectors) Files() []dataset.File { return p.files }

// read reads arrays of a file and lists the file as read.
func (p *parsedVectors) read(ctx context.Context, path string, want ...vectors.Want) (*vectors.File, error) {
	f, err := vectors.Read(ctx, path, want...)
	if err != nil {
		return nil, err
	}
	return f, p.remember(path, f.Digest)
}

// remember lists a file as read, once.
func (p *parsedVectors) remember(path, digest string) error {
	for _, f := range p.files {
		if f.Path == path {
			return nil
		}
	}
	f, err := fileOf(&lists.File{Path: path, Digest: digest})
	p.files = append(p.files, f)
	return err
}

// name sets the ids of the rows of a side. own are those in the file of vectors.
func (p *parsedVectors) name(ctx context.Context, s *side, c VectorFiles, k int, own []string) error {
	paths, columns := pair(c.IDs), pair(c.Columns)
	switch {
	case len(paths) == 2:
		column := ""
		if len(columns) == 2 {
			column = columns[k]
		}
		f, err := vectors.ReadIDs(ctx, paths[k], s.name, column)
		if err != nil {
			return err
		}
		if len(f.IDs) != s.rows.Rows {
			return &dataset.Error{File: paths[k], Msg: fmt.Sprintf("%d ids, and %s has %d rows of %ss", len(f.IDs),
				s.path, s.rows.Rows, s.name), Hint: "ids are one a row, in the order of the rows"}
		}
		for i := range own {
			if own[i] != f.IDs[i] {
				return &dataset.Error{File: paths[k], Line: i + 1, Msg: fmt.Sprintf("row %d is %s here and %s in %s",
					i+1, dataset.Quote([]byte(f.IDs[i])), dataset.Quote([]byte(own[i])), s.path),
					Hint: "leave out --ids: the vectors have ids of their own"}
			}
		}
		s.ids, p.left = f.IDs, append(p.left, f.Left...)
		return p.remember(paths[k], f.Digest)
	case own != nil:
		s.ids = own
		return nil
	case c.RowNumbers:
		for i := range s.rows.Rows {
			s.ids = append(s.ids, fmt.Sprint(i))
		}
		return nil
	}
	return &dataset.Error{File: s.path, Msg: fmt.Sprintf("which %s a row is of is not said", s.name),
		Hint: "name files of ids with --ids users.txt,items.txt; with --row-numbers the ids are the numbers of the " +
			"rows, from 0"}
}

// biases adds the biases to inner products by two more numbers in every vector: the user's bias beside a one in the
// item's vector, and a one in the user's beside the item's bias.
func (p *parsedVectors) biases(ctx context.Context, named, files []string) error {
	for k := range p.sides {
		if err := p.bias(ctx, named, files, k); err != nil {
			return err
		}
	}
	for k := range p.sides {
		p.widen(k, named)
	}
	return nil
}

// bias reads the biases of a side, if some are named.
func (p *parsedVectors) bias(ctx context.Context, named, files []string, k int) error {
	if !biased(named, k) {
		return nil
	}
	name, s := named[len(named)-2+k], p.sides[k]
	path, want := name, vectors.Want{Flat: true}
	if !strings.Contains(name, ".") || len(files) == 1 && !isFile(name) { // an array of the file
		path, want.Names = s.path, []string{name}
	}
	f, err := p.read(ctx, path, want)
	if err != nil {
		return err
	}
	b := f.Tables[0].Rows
	if b.Rows != s.rows.Rows {
		return &dataset.Error{File: path, Msg: fmt.Sprintf("%d biases of %ss, and %s has %d rows", b.Rows, s.name,
			s.path, s.rows.Rows)}
	}
	s.bias = b.Data
	return nil
}

// biased reports whether biases of a side are named. A single name means items.
func biased(named []string, k int) bool { return len(named) == 2 || len(named) == 1 && k == 1 }

// widen appends the two numbers to the vectors of a side.
func (p *parsedVectors) widen(k int, named []string) {
	if len(named) == 0 {
		return
	}
	s := p.sides[k]
	wide := tensor.New(s.rows.Rows, s.rows.Cols+2)
	for i := range s.rows.Rows {
		row := tensor.Row(wide, i)
		copy(row, tensor.Row(s.rows, i))
		if s.bias != nil {
			row[s.rows.Cols+k] = s.bias[i]
		}
		if biased(named, 1-k) {
			row[s.rows.Cols+1-k] = 1
		}
	}
	s.rows = wide
}

// isFile reports whether a name has the ending of a file of vectors.
func isFile(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".npy", ".npz", ".safetensors", ".parquet":
		return true
	}
	return false
}

// direct scales every row that is not zero to length 1.
func direct(m tensor.Matrix) {
	for i := range m.Rows {
		row := tensor.Row(m, i)
		if length := norm(row); length > 0 {
			for k, x := range row {
				row[k] = tensor.Float(float64(x) / length)
			}
		}
	}
}

// readKept reads the copies in the folder of a run.
func readKept(ctx context.Context, in string, ids *lists.IDs) (Parsed, error) {
	p := &parsedVectors{sides: [2]*side{{name: "user"}, {name: "item"}}}
	var rows [2]int
	for k, s := range p.sides {
		path := filepath.Join(in, s.name+"s.tsv.gz")
		t, err := readHolders(ctx, path)
		if err != nil {
			return nil, err
		}
		s.path, s.ids, p.without[k], rows[k] = path, t.ids, t.without, len(t.ids)
		number(s, k, ids)
	}
	v, err := experiment.OpenVectors(filepath.Dir(in), "", rows[0], rows[1])
	if err != nil {
		return nil, err
	}
	p.sides[0].rows, p.sides[1].rows = v.Users, v.Items
	return p, nil
}
