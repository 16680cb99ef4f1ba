package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/progress"
	"privrec/internal/system"
)

// Options says which data set to fetch and how.
type Options struct {
	Name string
	Dir  string // folder with one folder a data set; "" takes $PRIVREC_DATA
	// copies on this machine: archives, files unpacked from them, or folders of these; nothing is downloaded then
	From   []string
	Mirror string // address of a folder with the archives, used in place of every other address
	PinNew bool   // accept content that is not the published one, and say so in the receipt

	// AcceptTerms is called once, before anything is written, unless the receipt of an earlier fetch names the same
	// terms. False ends the fetch with ErrRefused. The field is required: leaving it empty accepts no terms.
	AcceptTerms func(ctx context.Context, s Source) (bool, error)

	Client   *http.Client     // nil: one with the defaults of the environment
	Progress progress.Display // nil: none
	Idle     time.Duration    // how long a server may send nothing; 0: a minute

	pause  time.Duration // before the first repetition of a request; 0: a second
	source *Source       // only for tests: in place of the one called Name

	// sameRows reports whether a folder holds the published rows of a set; tests set their own.
	sameRows func(ctx context.Context, name, folder string) (bool, error)
}

// Unfinished reports whether an interrupted fetch left a partial download from which the next one continues.
func (o Options) Unfinished() bool {
	folder, err := Folder(o.Dir, o.Name)
	if err != nil {
		return false
	}
	parts, err := filepath.Glob(filepath.Join(folder, "*"+partExt))
	return err == nil && len(parts) > 0
}

// The causes of errors that callers may want to distinguish.
var (
	ErrRefused = errors.New("terms not accepted")
	ErrChanged = errors.New("content is not the published one")
	ErrOffline = errors.New("cannot be downloaded")
)

// Fetch brings a data set into its folder and returns its receipt. It leaves a set that is already complete and has a
// receipt unchanged (Receipt.Kept).
//
// An interrupted download leaves NAME.part, from which the next Fetch continues; the error is then that of ctx.
func Fetch(ctx context.Context, o Options) (Receipt, error) {
	src, folder, err := o.prepare()
	if err != nil {
		return Receipt{}, err
	}
	before, err := readReceipt(folder)
	if err != nil && !o.PinNew && len(o.From) == 0 {
		return Receipt{}, err
	}
	if before.Name != "" && !o.PinNew && len(o.From) == 0 {
		r, err := verify(ctx, src, folder)
		if err != nil {
			return Receipt{}, err
		}
		if len(r.Bad()) == 0 {
			before.Kept = true
			return before, nil
		}
	}
	if src.Manual != "" && len(o.From) == 0 && o.Mirror == "" {
		return Receipt{}, &dataset.Error{File: src.Name, Msg: "the owner gives a copy to each user who asks",
			Err:  ErrOffline,
			Hint: src.Manual + "; for example: privrec data fetch " + src.Name + src.fromFlags()}
	}
	given, err := src.assign(o.From)
	if err != nil {
		return Receipt{}, err
	}
	if before.Terms != src.Licence {
		if o.AcceptTerms == nil {
			return Receipt{}, ErrRefused
		}
		ok, err := o.AcceptTerms(ctx, src)
		if err != nil {
			return Receipt{}, err
		}
		if !ok {
			return Receipt{}, fmt.Errorf("%s: %w", src.Name, ErrRefused)
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return Receipt{}, &dataset.Error{File: folder, Msg: "cannot make the folder", Err: err,
			Hint: "choose a writable --data"}
	}
	l, err := acquire(folder)
	if err != nil {
		return Receipt{}, err
	}
	defer l.release()
	j := &job{Options: o, src: src, folder: folder, before: before}
	return j.run(ctx, given)
}

// prepare checks the options and fills in defaults.
func (o *Options) prepare() (Source, string, error) {
	if o.Progress == nil {
		o.Progress = progress.Silent{}
	}
	if o.Idle == 0 {
		o.Idle = time.Minute
	}
	if o.pause == 0 {
		o.pause = time.Second
	}
	src, err := Source{}, error(nil)
	if o.source != nil {
		src = *o.source
	} else if src, err = Find(o.Name); err != nil {
		return Source{}, "", err
	}
	if src.Generated() {
		return Source{}, "", &dataset.Error{File: src.Name, Msg: "is generated here, there is nothing to fetch",
			Hint: "see privrec data synth --help"}
	}
	folder, err := Folder(o.Dir, src.Name)
	return src, folder, err
}

// Folder returns the folder of a set below dir; dir "" takes $PRIVREC_DATA.
func Folder(dir, name string) (string, error) {
	if dir == "" {
		dir = os.Getenv("PRIVREC_DATA")
	}
	if dir == "" {
		return "", &dataset.Error{File: name, Msg: "no data folder: PRIVREC_DATA is not set", Err: dataset.ErrNotFound,
			Hint: "set PRIVREC_DATA or give --data, the folder that holds one folder a data set"}
	}
	return filepath.Join(dir, name), nil
}

// job holds a fetch in progress, with the lock of its folder.
type job struct {
	Options
	src    Source
	folder string
	before Receipt // of an earlier fetch, zero when there was none
	doubts []error // copies without the published bytes; their rows may be the published ones
}

// run gets and unpacks every archive into a temporary folder, then moves all files to their places and writes the
// receipt.
func (j *job) run(ctx context.Context, given []copies) (r Receipt, err error) {
	if err := sweep(j.folder); err != nil {
		return Receipt{}, err
	}
	temp, err := os.MkdirTemp(j.folder, tempPrefix+"*")
	if err != nil {
		return Receipt{}, &dataset.Error{File: j.folder, Msg: "cannot write", Err: err,
			Hint: "choose a writable --data"}
	}
	defer os.RemoveAll(temp)
	r = Receipt{Version: 1, Name: j.src.Name, Time: time.Now().UTC().Truncate(time.Second), Terms: j.src.Licence}
	var done []string // downloads that are no longer needed once the receipt is written
	for i, a := range j.src.Archives {
		var (
			got   []Archived
			files []File
		)
		if len(j.From) > 0 {
			got, files, err = j.take(ctx, a, given[i], temp)
		} else {
			var one Archived
			one, files, err = j.fetch(ctx, a, temp)
			got = []Archived{one}
			done = append(done, j.part(a), j.part(a)+stateExt)
		}
		if err != nil {
			return Receipt{}, err
		}
		for _, g := range got {
			r.PinnedNew = r.PinnedNew || g.Want != ""
		}
		r.Archives, r.Files = append(r.Archives, got...), append(r.Files, files...)
	}
	if err := j.settle(ctx, temp); err != nil {
		return Receipt{}, err
	}
	pinned, err := j.compareFiles(r.Files)
	if err != nil {
		return Receipt{}, err
	}
	r.PinnedNew = r.PinnedNew || pinned
	if err := j.install(temp, r.Files); err != nil {
		return Receipt{}, err
	}
	if err := r.write(j.folder); err != nil {
		return Receipt{}, err
	}
	for _, d := range done {
		if err := os.Remove(d); err != nil && !errors.Is(err, os.ErrNotExist) {
			return Receipt{}, err
		}
	}
	return r, nil
}

// byRows is the value of Archived.Published for a copy with the published rows but other bytes.
const byRows = "rows"

// settle decides on copies without the published bytes. It accepts them if the unpacked files
// hold the rows of the published split in another order.
func (j *job) settle(ctx context.Context, temp string) error {
	if len(j.doubts) == 0 {
		return nil
	}
	same := j.sameRows
	if same == nil {
		same = registry.SamePublished
	}
	ok, err := same(ctx, j.src.Name, temp)
	if ctx.Err() != nil {
		return err
	}
	if err != nil || !ok { // rows that cannot be read are not the published ones
		return j.doubts[0]
	}
	j.Progress.Phase("not the published bytes, but the rows of the published split in another order")
	return nil
}

// fetch downloads one archive and unpacks it.
func (j *job) fetch(ctx context.Context, a Archive, temp string) (Archived, []File, error) {
	got, err := j.download(ctx, a)
	if err != nil {
		return Archived{}, nil, err
	}
	files, err := j.unpack(ctx, j.part(a), a, temp)
	return got, files, err
}

// unpack returns an archive's files, unpacked from the file at path.
func (j *job) unpack(ctx context.Context, path string, a Archive, temp string) ([]File, error) {
	j.Progress.Phase("unpack " + a.FileName())
	x := &extraction{ctx: ctx, archive: a, to: temp}
	if err := x.run(path); err != nil {
		return nil, err
	}
	return x.files()
}

// compare checks an archive against the published hash or, if none is published, against the last receipt. It records
// how it was checked. If content is accepted although it differs, Want keeps the expected hash.
func (j *job) compare(a Archive, got *Archived, md5 string) error {
	want, have := "", ""
	switch before, _ := j.before.archive(got.Name); {
	case a.SHA256 != "":
		got.Published, want, have = "sha256", "sha256 "+a.SHA256, "sha256 "+got.SHA256
	case a.MD5 != "":
		got.Published, want, have = "md5", "md5 "+a.MD5, "md5 "+md5
	case before.SHA256 != "":
		want, have = "sha256 "+before.SHA256, "sha256 "+got.SHA256
	}
	if a.Bytes != 0 {
		want, have = describe(want, a.Bytes), describe(have, got.Bytes)
	}
	if want == have {
		return nil
	}
	if j.PinNew {
		got.Want = want
		j.Progress.Phase(fmt.Sprintf("%s is not the published file (%s instead of %s), accepted because of --pin-new",
			got.Name, have, want))
		return nil
	}
	return changed(got.Name, want, have)
}

func describe(hash string, bytes int64) string {
	return strings.TrimPrefix(fmt.Sprintf("%s, %d bytes", hash, bytes), ", ")
}

// changed returns the error for content that is not the expected one.
func changed(file, want, got string) error {
	return &dataset.Error{File: file, Msg: fmt.Sprintf("want %s; got %s", want, got), Err: ErrChanged,
		Hint: "a damaged copy or a new version: try again or another copy; --pin-new accepts it as it is, and " +
			"results on it say so"}
}

// compareFiles checks unpacked files against published hashes and reports whether one that
// differs was accepted.
func (j *job) compareFiles(files []File) (pinned bool, err error) {
	want := map[string]FileHash{}
	for _, a := range j.src.Archives {
		for _, h := range a.Hashes {
			want[h.File] = h
		}
	}
	for _, f := range files {
		h, ok := want[f.Name]
		if !ok || h.SHA256 == f.SHA256 {
			continue
		}
		if !j.PinNew {
			return false, changed(f.Name, "sha256 "+h.SHA256, "sha256 "+f.SHA256)
		}
		pinned = true
	}
	return pinned, nil
}

// install moves unpacked files to their places. It replaces files of an earlier fetch and files that were given as the
// copy, and refuses to replace any other file.
func (j *job) install(temp string, files []File) error {
	for _, f := range files {
		to := filepath.Join(j.folder, filepath.FromSlash(f.Name))
		st, err := os.Lstat(to)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return &dataset.Error{File: to, Msg: "cannot inspect", Err: err}
		}
		if _, ours := j.before.file(f.Name); !ours && !given(j.From, st) {
			return &dataset.Error{File: to, Msg: "exists and did not come from a fetch",
				Hint: "move it away, or make it the copy with --from " + to}
		}
	}
	for _, f := range files {
		to := filepath.Join(j.folder, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return &dataset.Error{File: to, Msg: "cannot write", Err: err}
		}
		if err := os.Rename(filepath.Join(temp, filepath.FromSlash(f.Name)), to); err != nil {
			return &dataset.Error{File: to, Msg: "cannot write", Err: err}
		}
		if err := system.SyncDir(filepath.Dir(to)); err != nil {
			return &dataset.Error{File: to, Msg: "cannot write", Err: err}
		}
	}
	return nil
}
