package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"privrec/internal/private/gram"
)

// step describes a second pipeline, on the users that a first one kept of every shard. It is written as JSON into the
// pipeline.
type step struct {
	Name    string
	Work    string // folder for what is passed on, which all workers see
	Program string // as in job

	Draws *gram.Draws // of a matrix that is released
	Plan  string      // file of its plan
	Rank  *rankStep   // of a ranking
}

// stepNote describes the result for a shard.
type stepNote struct {
	Shard int    `json:"shard"`
	Users int64  `json:"users"`
	Sums  string `json:"sums,omitempty"`
	Score string `json:"score,omitempty"` // file of the measures of users
	Lists string `json:"lists,omitempty"` // file of lists
}

func init() {
	register.DoFn3x1[context.Context, string, func(string), error](&stepFn{})
	register.DoFn4x1[context.Context, int, func(*string) bool, func(string), error](&collectFn{})
}

// stepFn runs a step on a shard. Its step is in JSON, since Beam writes down the types of fields.
type stepFn struct{ Step string }

// ProcessElement emits the result for the shard of a note.
func (f *stepFn) ProcessElement(ctx context.Context, shard string, note func(string)) error {
	var s step
	var in shardNote
	if err := json.Unmarshal([]byte(f.Step), &s); err != nil {
		return err
	}
	if err := (&job{Program: s.Program}).check(); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(shard), &in); err != nil {
		return err
	}
	do := s.terms
	if s.Rank != nil {
		do = s.rank
	}
	out, err := do(ctx, in)
	if err != nil {
		return err
	}
	usersMade.Inc(ctx, out.Users)
	return emitJSON(out, note)
}

// collectFn writes the notes of a step, one a line.
type collectFn struct{ To string }

// ProcessElement writes all notes, without those of attempts that the engine gave up.
func (f *collectFn) ProcessElement(ctx context.Context, _ int, next func(*string) bool, _ func(string)) error {
	return writeFile(ctx, f.To, func(w io.Writer) error {
		var text string
		for next(&text) {
			if _, err := io.WriteString(w, text+"\n"); err != nil {
				return err
			}
		}
		return nil
	})
}

// runStep runs a step on all shards that kept users. It returns its notes in the order of the shards, each once.
func runStep(ctx context.Context, st step, shards []shardNote) (out []stepNote, err error) {
	var end func()
	if st.Program, end, err = workersOf(); err != nil {
		return nil, err
	}
	defer end()
	text, err := json.Marshal(st)
	if err != nil {
		return nil, err
	}
	var in []string
	for _, n := range shards {
		b, err := json.Marshal(n)
		if err != nil {
			return nil, err
		}
		in = append(in, string(b))
	}
	to := join(st.Work, "result-"+st.Name+".json")
	p, s := beam.NewPipelineWithRoot()
	each := beam.Reshuffle(s, beam.CreateList(s, in)) // shards go to workers one by one
	keyed := beam.ParDo(s, one, beam.ParDo(s.Scope(st.Name), &stepFn{string(text)}, each))
	beam.ParDo(s.Scope("write notes"), &collectFn{to}, beam.GroupByKey(s, keyed))
	if err := beamx.Run(ctx, p); err != nil {
		return nil, err
	}
	f, err := openFile(ctx, to)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var n stepNote
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b stepNote) int { return a.Shard - b.Shard })
	if len(out) != len(shards) {
		return nil, fmt.Errorf("the pipeline made %d of %d shards", len(out), len(shards))
	}
	for k, n := range out {
		if n.Shard != shards[k].Shard || n.Users != shards[k].Users {
			return nil, fmt.Errorf("the pipeline made shard %d of %d users, want shard %d of %d", n.Shard, n.Users,
				shards[k].Shard, shards[k].Users)
		}
	}
	return out, nil
}

// withUsers returns the notes of shards that kept users.
func withUsers(all []shardNote) (some []shardNote) {
	for _, n := range all {
		if n.Kept != "" {
			some = append(some, n)
		}
	}
	return some
}
