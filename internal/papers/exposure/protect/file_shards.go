package protect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// Kind names the command to the merge of shards.
const Kind = "exposure"

// shardSame holds the data that all shards of a file share: settings, and counts of what every shard reads.
type shardSame struct {
	Purpose    string       `json:"purpose"`
	Method     Method       `json:"method"`
	Vectors    string       `json:"vectors"`
	History    string       `json:"history"`
	Length     int          `json:"length"`
	Items      int          `json:"items"`
	Seen       vectorCounts `json:"seen"`
	Count      int          `json:"positions"`
	Keep       float64      `json:"keep"`
	Other      float64      `json:"other"`
	Most       int64        `json:"most"`
	CountsFrom string       `json:"counts_from"`
	IDs        bool         `json:"ids"`
	Own        bool         `json:"own"`
	Once       bool         `json:"once"`
}

func (p *filePerturber) state() (same, counts any) {
	o, r := p.o, p.report
	history := given(o.History)
	if o.Past != nil {
		history = given("past")
	}
	return shardSame{o.Purpose, o.Method, given(o.Vectors), history, r.Length, r.Items, r.vectorCounts, r.Count, r.Keep,
		r.Other, r.Most, r.CountsFrom, r.ids, o.Own, r.once}, r.slateCounts
}

// Whole says how to join the shards of File.
func Whole() perturb.Whole {
	return perturb.Whole{Join: joinShards, Release: releaseOf, Report: func(f perturb.Facts, same json.RawMessage,
		counts []json.RawMessage) (run.Result, error) {
		var s shardSame
		if err := json.Unmarshal(same, &s); err != nil {
			return nil, err
		}
		r := &FileReport{
			Facts: f, Options: FileOptions{Settings: perturb.Settings{Purpose: s.Purpose, Own: s.Own}, Method: s.Method,
				Vectors: s.Vectors, History: s.History},
			Length: s.Length, Items: s.Items, vectorCounts: s.Seen, Count: s.Count, Keep: s.Keep, Other: s.Other,
			Most: s.Most, CountsFrom: s.CountsFrom, ids: s.IDs, once: s.Once,
		}
		for _, b := range counts {
			var c slateCounts
			if err := json.Unmarshal(b, &c); err != nil {
				return nil, err
			}
			r.add(c)
		}
		return r.Document(), nil
	}}
}

// releaseOf returns the release of the settings of shards.
func releaseOf(same json.RawMessage) (string, privacy.Event, error) {
	var s shardSame
	if err := json.Unmarshal(same, &s); err != nil {
		return "", nil, err
	}
	if s.Method.Replace != ReplaceRR {
		return s.Purpose, unprotected(s.Purpose, s.Method.Ratio), nil
	}
	m := response(s.Purpose, s.Method.Epsilon, int64(s.Items))
	if s.Keep != m.Keep() || s.Other != m.Other() {
		return "", nil, perturb.Refuse("make the shards again",
			"shards keep a position with probability %g, which is not that of epsilon %g", s.Keep, s.Method.Epsilon)
	}
	return s.Purpose, m.Event(), nil
}

// joinShards returns the shared data of shards that each read a part of the input.
func joinShards(same []json.RawMessage) (json.RawMessage, error) {
	for _, b := range same {
		if !bytes.Equal(b, same[0]) {
			return nil, errors.New("shards were made with other settings")
		}
	}
	return same[0], nil
}

// Declare records in a ledger the release of one file, or of all its shards, and returns the catalogue. Length and the
// catalogue must be given. It fails on settings that File refuses.
func (o *FileOptions) Declare(ctx context.Context, l *privacy.Ledger) (*perturb.Catalogue, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	switch {
	case o.Length < 1:
		return nil, perturb.Refuse("it is the number of items of every slate", "--length is missing")
	case o.twice():
		return nil, perturb.Refuse("give --items M or --catalogue FILE",
			"the catalogue is missing: shards do not see the slates of others")
	}
	cat, _, err := openCatalogue(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Replace == ReplaceRR {
		_, err = response(o.Purpose, o.Epsilon, int64(cat.Size)).Open(l,
			o.Bits(o.Seed.Stream("perturb exposure, the ledger alone")))
		return cat, err
	}
	return cat, o.unprotected(l)
}

// Hold records the largest number of slates of one user over all shards of one file that each have a part of its
// slates: in the ledger, for randomized response, and in the data that the shards share.
func Hold(l *privacy.Ledger, same json.RawMessage, most int64) (json.RawMessage, error) {
	var s shardSame
	if err := json.Unmarshal(same, &s); err != nil {
		return nil, err
	}
	if s.Method.Replace != ReplaceRR {
		return same, nil
	}
	s.Most = most
	if err := l.Hold(privacy.Holding{Unit: privacy.User, Of: privacy.Position,
		Most: most * int64(s.Length)}); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// given returns a word that says whether a file was given. Its name may differ between machines; its content is
// compared.
func given(path string) string {
	if path == "" {
		return ""
	}
	return "given"
}
