package features

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"

	"privrec/internal/perturb"
	"privrec/internal/perturb/features"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/run"
)

// File reads the features of users, perturbs each user's once and writes Out, the ledger and a report, as [perturb.Run]
// does. With ratings the statistics of Table 1 come first. Users come in any order, each once, and are written in the
// order of their ids. Memory does not grow with their number: true rows beyond 4 MiB are sorted on a file without a
// name beside Out.
//
// A user's row depends on the true row, the settings, the seed and the id, and on no other user.
func File(ctx context.Context, o FileOptions) (*FileReport, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	p := &filePerturber{o: o}
	set := o.Settings
	set.In = o.Attributes // the file that the engine knows
	err := perturb.Run(ctx, perturb.Job[float64]{
		Settings: &set, Kind: Kind, Noun: "users", Sources: []string{o.In}, ByUser: true, Ranked: true, State: p.state,
		Open: p.open, Release: p.release, Worker: p.worker, Report: p.newReport,
		Finish: func(*privacy.Ledger) error { return p.run.Finish() },
	})
	return p.report, err
}

// filePerturber holds one perturbation in progress.
type filePerturber struct {
	o      FileOptions
	in     *features.Reader
	f      local.FeatureSampler
	run    *local.FeatureRun
	report *FileReport
}

func (p *filePerturber) open(ctx context.Context) (_ perturb.Records[float64], err error) {
	o := &p.o
	p.f = o.sampler()
	src := features.Source{Attributes: o.Attributes, AttributesForm: o.AttributesForm, Columns: o.Columns,
		Missing: o.Missing, OutForm: o.OutForm}
	if o.In != "" {
		src.Ratings, src.RatingsForm = o.In, o.InForm
		src.Statistics = &features.Statistics{Names: StatisticNames(), Levels: Levels,
			Of: func(counts []int, row []float64) error {
				return Statistics(Counts(counts), o.Items, row)
			}}
	}
	if p.in, err = features.Open(ctx, src); err != nil {
		return nil, err
	}
	return p.in, nil
}

// bits returns random bits from a stream that no other setting has.
func (p *filePerturber) bits() mechanism.Bits {
	o := &p.o
	return o.Bits(o.Seed.Stream(fmt.Sprintf("perturb features %s %d %v", o.Purpose, p.f.K(), o.Columns),
		math.Float64bits(p.f.Epsilon), uint64(o.Items)))
}

func (p *filePerturber) release(l *privacy.Ledger, spill func() (*os.File, error)) (err error) {
	p.in.Spill(spill)
	if p.run, err = p.f.Open(l, p.bits()); err != nil {
		return err
	}
	p.in.Say(p.o.Progress)
	p.o.Progress.Phase(fmt.Sprintf("perturb %s: %d of %d features a user, epsilon %g of a row, %g of a feature",
		p.o.Attributes, p.f.K(), len(p.f.Features), p.f.Epsilon, p.f.PerFeature()))
	return nil
}

// worker returns a function that perturbs the rows of blocks, for one goroutine.
func (p *filePerturber) worker() (func(b *perturb.Block[float64]) error, error) {
	rows, err := p.run.Rows()
	if err != nil {
		return nil, err
	}
	return func(b *perturb.Block[float64]) error {
		for u := range b.Len() {
			key := sequence.KeyOf(b.ID(u, 0))
			if err := rows.Row(b.Cells(u), key[0], key[1]); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func (p *filePerturber) newReport(f perturb.Facts) (_ run.Result, err error) {
	p.report = &FileReport{Facts: f, Options: p.o, Sampler: p.f, Users: p.in.Users, Ratings: p.in.Ratings,
		Empty: p.in.Empty}
	if p.report.RatingsDigest, err = p.in.RatingsDigest(); err != nil {
		return nil, err
	}
	return p.report.Document(), nil
}

// Kind names the command to the merge of shards.
const Kind = "features"

// shardSame holds the data that all shards of a file share: settings, and counts of what every shard reads.
type shardSame struct {
	Purpose string            `json:"purpose"`
	Epsilon float64           `json:"epsilon"`
	Draw    int               `json:"draw"`
	Each    bool              `json:"each"`
	Missing bool              `json:"missing"`
	Columns []features.Column `json:"columns"`
	Items   int               `json:"items"`
	Ratings string            `json:"ratings"` // file; empty: none
	Digest  string            `json:"ratings_sha256"`
	Counts  [3]int64          `json:"read"` // users, ratings, empty fields
}

func (p *filePerturber) state() (same, counts any) {
	o, r := p.o, p.report
	return shardSame{o.Purpose, o.Epsilon, o.Draw, o.Each, o.Missing, o.Columns, o.Items, o.In, r.RatingsDigest,
		[3]int64{r.Users, r.Ratings, r.Empty}}, nil
}

// Declare records in a ledger the release of one perturbed file, or of all its shards. It fails on settings that File
// refuses.
func (o *FileOptions) Declare(l *privacy.Ledger) error {
	if err := o.check(); err != nil {
		return err
	}
	p := &filePerturber{o: *o, f: o.sampler()}
	_, err := p.f.Open(l, p.bits())
	return err
}

// joinShards adds up the shared data of shards that each read a part of the input. The digest of the ratings is one of
// those of the parts.
func joinShards(same []json.RawMessage) (json.RawMessage, error) {
	var all shardSame
	sum := sha256.New()
	for i, b := range same {
		var s shardSame
		if err := json.Unmarshal(b, &s); err != nil {
			return nil, err
		}
		fmt.Fprintln(sum, s.Digest)
		s.Digest, s.Ratings = "", filepath.Base(s.Ratings)
		if s.Ratings == "." {
			s.Ratings = ""
		}
		counts := s.Counts
		s.Counts = all.Counts
		if i == 0 {
			all = s
		}
		if !reflect.DeepEqual(s, all) {
			return nil, errors.New("shards were made with other settings")
		}
		for k, n := range counts {
			all.Counts[k] += n
		}
	}
	if all.Ratings != "" {
		all.Digest = hex.EncodeToString(sum.Sum(nil))
	}
	return json.Marshal(all)
}

// options returns the settings of shards.
func (s shardSame) options() FileOptions {
	return FileOptions{Settings: perturb.Settings{Purpose: s.Purpose, In: s.Ratings, Items: s.Items},
		Epsilon: s.Epsilon, Draw: s.Draw, Each: s.Each, Missing: s.Missing, Columns: s.Columns}
}

// releaseOf returns the release of the settings of shards.
func releaseOf(same json.RawMessage) (string, privacy.Event, error) {
	var s shardSame
	if err := json.Unmarshal(same, &s); err != nil {
		return "", nil, err
	}
	o := s.options()
	return o.Purpose, o.sampler().Event(), nil
}

// Whole says how to join the shards of File.
func Whole() perturb.Whole {
	return perturb.Whole{Join: joinShards, Release: releaseOf, Report: func(f perturb.Facts, same json.RawMessage,
		_ []json.RawMessage) (run.Result, error) {
		var s shardSame
		if err := json.Unmarshal(same, &s); err != nil {
			return nil, err
		}
		o := s.options()
		r := &FileReport{Facts: f, Options: o, Sampler: o.sampler(), RatingsDigest: s.Digest, Users: s.Counts[0],
			Ratings: s.Counts[1], Empty: s.Counts[2]}
		return r.Document(), nil
	}}
}
