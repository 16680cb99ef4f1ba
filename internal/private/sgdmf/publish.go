package sgdmf

import (
	"io"

	"privrec/internal/run"
)

// ReleasedFile names the file of the releases of a run with secure noise, in safetensors format: the counts of all
// items, the items of the table, as numbers in the catalogue, and their vectors w (m, 1+d). The guarantee of the run
// covers this file. A user's own device needs nothing else to compute the user's vector.
const ReleasedFile = "released.safetensors"

// publish writes the releases into the run directory.
func (t *training) publish(env *run.Env) error {
	items := make([]int64, len(t.f.items))
	for k, i := range t.f.items {
		items[k] = int64(i)
	}
	return env.WriteArtefact(ReleasedFile, func(w io.Writer) error {
		return run.WriteSafetensors(w, []run.NamedTensor{
			{Name: "counts", Shape: []int{len(t.counts)}, Data: t.counts},
			{Name: "items", Shape: []int{len(items)}, Data: items},
			run.MatrixTensor("vectors", t.f.w),
		}, map[string]string{"configuration": env.ConfigHash})
	})
}

// keep writes the first checkpoint, so that the counts are on file before a step uses them.
func (t *training) keep(env *run.Env) error {
	c, err := t.checkpoint()
	if err != nil {
		return err
	}
	return env.SaveCheckpoint(c)
}
