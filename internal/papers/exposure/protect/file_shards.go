package protect

import (
	"encoding/json"

	"privrec/internal/perturb"
	"privrec/internal/run"
)

// Kind names the command to the merge of shards.
const Kind = "exposure"

// shardSame is what all shards of a file have alike: settings, and counts of what every shard reads.
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
	Once       bool         `json:"once"`
}

func (p *filePerturber) state() (same, counts any) {
	o, r := p.o, p.report
	return shardSame{o.Purpose, o.Method, given(o.Vectors), given(o.History), r.Length, r.Items, r.vectorCounts, r.Count, r.Keep, r.Other, r.Most, r.CountsFrom, r.ids, r.once}, r.slateCounts
}

// Whole says how the shards of File become a whole.
func Whole() perturb.Whole {
	return perturb.Whole{Report: func(f perturb.Facts, same json.RawMessage, counts []json.RawMessage) (run.Result, error) {
		var s shardSame
		if err := json.Unmarshal(same, &s); err != nil {
			return nil, err
		}
		r := &FileReport{
			Facts: f, Options: FileOptions{Settings: perturb.Settings{Purpose: s.Purpose}, Method: s.Method, Vectors: s.Vectors, History: s.History},
			Length: s.Length, Items: s.Items, vectorCounts: s.Seen, Count: s.Count, Keep: s.Keep, Other: s.Other, Most: s.Most, CountsFrom: s.CountsFrom, ids: s.IDs, once: s.Once,
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

// given says that a file was given. Its name may differ between machines; what is in it is compared.
func given(path string) string {
	if path == "" {
		return ""
	}
	return "given"
}
